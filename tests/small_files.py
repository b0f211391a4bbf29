"""Tiny files in the official formats, for tests of discovery and lookups (our own words)."""

from __future__ import annotations

import io
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas


def tabular(year: int, extra: str = "") -> bytes:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular><version>{year}</version>
<introduction><introSection type="title"><title>Tabular sample</title></introSection></introduction>
<chapter><name>4</name><desc>Glands (E00-E89)</desc>
<sectionIndex><sectionRef first="E08" last="E13" id="E08-E13">Sugar</sectionRef></sectionIndex>
<section id="E08-E13"><desc>Sugar (E08-E13)</desc>
<diag><name>E11</name><desc>Sweet blood</desc><includes><note>sweetness</note></includes>
<diag><name>E11.2</name><desc>Sweet blood and kidneys</desc>
<diag><name>E11.22</name><desc>Sweet blood and tired kidneys</desc></diag>{extra}</diag></diag>
</section></chapter></ICD10CM.tabular>
""".encode()


def index(year: int, title: str = "INDEX TO DISEASES and INJURIES") -> bytes:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.index><version>{year}</version><title>ICD-10-CM {title}</title>
<letter><title>A</title><mainTerm><title>Abscess</title><code>L02.91</code>
<term level="1"><title>brain<nemod>(any part)</nemod></title><code>G06.0</code></term>
</mainTerm></letter></ICD10CM.index>
""".encode()


def table(year: int, first: str) -> bytes:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.index><version>{year}</version>
<indexHeading><head col="1">{first}</head><head col="2">Second</head></indexHeading>
<letter><title>A</title><mainTerm><title>Alpha</title><cell col="2">T51.0</cell></mainTerm></letter>
</ICD10CM.index>
""".encode()


def usc_section(number: str, head: str, paragraphs: str) -> str:
    return f"""<!-- documentid:18_{number} currentthrough:20240103 documentPDFPage:1 -->
<!-- itempath:/180/PART I/CHAPTER 1/Sec. {number} -->
<!-- expcite:TITLE 18-CRIMES!@!PART I-CRIMES!@!CHAPTER 1-FIRST!@!Sec. {number} -->
<!-- field-start:head -->
<h3 class="section-head">&sect;{number}. {head}</h3>
<!-- field-end:head -->
<!-- field-start:statute -->
{paragraphs}
<!-- field-end:statute -->
"""


def title18(year: int | None, current: str, body: str = "", number: str = "18") -> bytes:
    """An annual file; ``year`` stands in its title when given."""
    named = f" ({year})" if year else ""
    sections = usc_section("1", "Small wrongs", "<p class='statutory-body'>None may whistle.</p>")
    return f"""<?xml version='1.0' encoding='UTF-8' ?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "xhtml1-transitional.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head>
<title>U.S.C. Title {number} - SAMPLE{named}</title></head><body>
<!-- documentid:{number} currentthrough:{current} documentPDFPage:-1 -->
<!-- itempath:/{number}0 -->
<!-- expcite:TITLE {number}-SAMPLE -->
<h1 class="usc-title-head"><strong>TITLE {number}&mdash;SAMPLE</strong></h1>
<h3 class="part-head"><strong>PART I&mdash;CRIMES</strong></h3>
<h3 class="chapter-head"><strong>CHAPTER 1&mdash;FIRST</strong></h3>
{sections}{body}
</body></html>
""".encode()


def gpo_part(part: str, edition: int = 2023, current: str = "20240103") -> bytes:
    return f"""<html><head><title>U.S.C. Title 18 - SAMPLE</title></head><body>
<span>United States Code, {edition} Edition</span><br/>
<span>PART {part} - SAMPLE</span>
<!-- documentid:18_-pt{part} currentthrough:{current} documentPDFPage:879 -->
<!-- expcite:TITLE 18-SAMPLE!@!PART {part}-SAMPLE -->
<h3 class="part-head"><strong>PART {part}&mdash;SAMPLE</strong></h3>
</body></html>
""".encode()


ERROR_PAGE = (
    b"<!DOCTYPE html><html><head><title>404 Not Found</title></head><body>No.</body></html>"
)


def pdf(*pages: str, password: str = "") -> bytes:
    """A PDF with a text of several lines on each page; an empty text is an empty page."""
    stream = io.BytesIO()
    canvas = Canvas(stream, encrypt=password or None, invariant=1)
    for page in pages:
        for number, line in enumerate(page.split("\n")):
            canvas.drawString(72, 720 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def ussg_pdf(year: int, text: str = "") -> bytes:
    return pdf(
        f"UNITED STATES SENTENCING COMMISSION\nGUIDELINES MANUAL\n{year}\n{text}",
        f"CITATION FORM\nii | Guidelines Manual (November 1, {year})",
    )


def guidelines_pdf(year: int) -> bytes:
    return pdf(
        f"ICD-10-CM Official Guidelines for Coding and Reporting\nFY {year} -- UPDATED October 1, "
        f"{year - 1}\n(October 1, {year - 1} - September 30, {year})"
    )


def write(folder: Path, files: dict[str, bytes]) -> Path:
    """Write files, by their paths below ``folder``; returns ``folder``."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
