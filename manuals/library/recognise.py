"""What a file is, told by its content: which manual, which edition.

Signs that are read: the XML root, ``<version>`` and the title or table head; the text of a PDF's
first pages; the comments, title and heads of OLRC and GPO HTML. The file's name is never used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from lxml import etree

from manuals.model.xmlsafe import parse_xml
from manuals.model.years import compact_date, long_date
from tam.errors import DamagedFile, ManualError, UnrecognisedFile

#: pages of a PDF that are looked at: title page, citation form, first contents page with the foot
TITLE_PAGES = 4

#: how a file begins -> what it is
_SIGNATURES = ((b"%PDF-", "pdf"), (b"PK\x03\x04", "zip"), (b"\x1f\x8b", "gzip"))


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file of a manual. ``part`` names the part it holds (``III``) when it is not the whole."""

    source: str
    year: int
    release: str
    part: str = ""


def recognise(path: Path, name: str = "") -> Recognised | None:
    """The manual and edition that a file holds; ``name`` is how messages call the file.

    ``None`` for a file that is nothing like a manual (a text, a picture, a table). Raises
    ``DamagedFile`` for one that is empty, truncated, encrypted, without text or an error page,
    and ``UnrecognisedFile`` for another document in one of the formats that manuals have.
    """
    name = name or str(path)
    with path.open("rb") as stream:
        head = stream.read(4096)
    kind = _kind(head)
    if not head.strip():
        raise DamagedFile(f"{name}: the file is empty; fetch it again or leave it out")
    if kind == "pdf":
        return _recognise_pdf(path, name)
    if kind == "html":
        return _recognise_html(path, name)
    if kind == "xml":
        return _recognise_xml(path, name)
    if kind in ("zip", "gzip"):
        raise UnrecognisedFile(f"{name}: an archive; unpack it into the folder")
    if path.suffix.lower() in (".xml", ".pdf", ".htm", ".html"):
        raise DamagedFile(
            f"{name}: neither XML, HTML nor PDF inside; fetch it again or leave it out"
        )
    return None


def _kind(head: bytes) -> str:
    for signature, kind in _SIGNATURES:
        # A PDF may carry up to a kilobyte of other bytes before its header (ISO 32000, annex).
        if signature in head[: 1024 if kind == "pdf" else len(signature)]:
            return kind
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = head.decode(encoding, errors="replace").lstrip().lower()
    if re.search(r"<!doctype\s+html|<html[\s>]", text):
        return "html"
    return "xml" if text.startswith("<") else ""


# ---- XML ----


def _recognise_xml(path: Path, name: str) -> Recognised | None:
    root = parse_xml(path, name)
    tag = etree.QName(root).localname
    if tag in ("schema", "stylesheet"):
        return None
    if tag == "ICD10CM.tabular":
        source = "tabular"
    elif tag == "ICD10CM.index":
        source = _index_source(root, name)
    else:
        raise UnrecognisedFile(f"{name}: {_other_xml(root, tag)}; leave it out")
    version = (root.findtext("version") or "").strip()
    year = re.search(r"\b(?:19|20)\d\d\b", version)
    if year is None:
        raise UnrecognisedFile(
            f"{name}: <version> gives no year ({version!r}); fetch the official file again"
        )
    return Recognised(source, int(year[0]), version)


def _index_source(root: etree._Element, name: str) -> str:
    """The four files whose root is ``ICD10CM.index`` differ in title and table head."""
    title = (root.findtext("title") or "").lower()
    first = (root.findtext("indexHeading/head") or "").lower()
    for sign, text, source in (
        ("external cause", title, "eindex"),
        ("drug", title, "drugs"),
        ("neoplasm", title, "neoplasm"),
        ("index", title, "index"),
        ("substance", first, "drugs"),
        ("neoplasm", first, "neoplasm"),
    ):
        if sign in text:
            return source
    raise UnrecognisedFile(
        f"{name}: an ICD-10-CM index of unknown kind (title {title!r}, first column {first!r}); "
        f"leave it out"
    )


def _other_xml(root: etree._Element, tag: str) -> str:
    if tag.upper().startswith("ICD10PCS"):
        return "ICD-10-PCS (procedure codes), not ICD-10-CM"
    if tag in ("uscDoc", "lawDoc") or "uslm" in (etree.QName(root).namespace or ""):
        return "the U.S. Code as USLM XML; Title 18 is read from the annual HTML archive"
    return f"XML with the root <{tag}>, not one of the ICD-10-CM files"


# ---- HTML ----


def _recognise_html(path: Path, name: str) -> Recognised:
    text = path.read_bytes().decode("utf-8", errors="replace")
    head_title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
    title = " ".join(head_title[1].split()) if head_title else ""
    current = re.search(r"currentthrough:\s*(\d{8})", text)
    if current is None:
        _refuse_page(path, name, title)
    number = _title_number(text, title)
    if number != "18":
        shown = f"Title {number}" if number else "a title without its number"
        raise UnrecognisedFile(f"{name}: {shown} of the U.S. Code, not Title 18; leave it out")
    started, ended = text.count("<!-- field-start:"), text.count("<!-- field-end:")
    if started != ended or not re.search(r"</html>\s*\Z", text, re.IGNORECASE):
        raise DamagedFile(
            f"{name}: the HTML is cut off ({started} fields begin, {ended} end); fetch it again"
        )
    year = _title18_year(text[: current.end() + 2000], title, current[1])
    part = re.search(r"documentid:18_-(?:pt)?(\S+)", text[: current.end() + 200])
    return Recognised(
        "title18", year, f"currentthrough:{current[1]}", _part_name(part[1]) if part else ""
    )


def _refuse_page(path: Path, name: str, title: str) -> NoReturn:
    shown = f"a web page ({title!r})" if title else "a web page"
    if path.suffix.lower() in (".pdf", ".xml"):
        raise DamagedFile(
            f"{name}: {shown} saved as {path.suffix}; fetch the file again from its publisher"
        )
    raise UnrecognisedFile(f"{name}: {shown}, not Title 18 of the U.S. Code; leave it out")


def _title_number(text: str, title: str) -> str:
    """The U.S. Code title that the file is of, from its comments, else from its heads."""
    for pattern, where in (
        (r"documentid:(\d+[A-Za-z]?)\b", text),
        (r"expcite:TITLE (\d+[A-Z]?)", text),
        (r"usc-title-head[^>]*>\s*(?:<[^>]+>)*\s*TITLE\s+(\d+[A-Z]?)", text),
        (r"Title (\d+[A-Za-z]?)", title),
    ):
        found = re.search(pattern, where)
        if found:
            return found[1]
    return ""


def _title18_year(head: str, title: str, current: str) -> int:
    """The annual edition's year: as it names itself, else from the date it is current through.

    An annual edition holds the laws of a session of Congress, which ends in the first days of
    January: a date in January belongs to the edition of the year before.
    """
    named = re.search(r"United States Code,\s+(\d{4})\s+Edition", head) or re.search(
        r"\((\d{4})\)\s*$", title
    )
    if named:
        return int(named[1])
    day = compact_date(current)
    if day is None:
        return int(current[:4])
    return day.year - 1 if day.month == 1 else day.year


def _part_name(suffix: str) -> str:
    return re.sub(r"-ch", ", Chapter ", suffix)


# ---- PDF ----


def _recognise_pdf(path: Path, name: str) -> Recognised:
    pages = _first_pages(path, name)
    text = re.sub(r"\s+", " ", " ".join(pages))
    if not text.strip():
        raise DamagedFile(
            f"{name}: the PDF has no text (a scan?); fetch the official file, or recognise its "
            f"text first"
        )
    upper = text.upper()
    if "ICD-10-PCS" in upper[:400]:
        raise UnrecognisedFile(f"{name}: ICD-10-PCS (procedure codes), not ICD-10-CM; leave it out")
    if "ICD-10-CM OFFICIAL GUIDELINES FOR CODING AND REPORTING" in upper:
        return _guidelines(text, name)
    if re.search(r"ICD-10-CM (TABULAR LIST|INDEX TO DISEASES|EXTERNAL CAUSE|TABLE OF)", upper):
        raise PrintedEdition(
            f"{name}: the print form of an ICD-10-CM file; only the XML form is read"
        )
    if "GUIDELINES MANUAL" in upper and "SENTENCING COMMISSION" in upper:
        return _ussg(text, name)
    shown = " ".join(pages[0].split())[:60] if pages else ""
    raise UnrecognisedFile(f"{name}: a PDF of another kind ({shown!r}); leave it out")


class PrintedEdition(UnrecognisedFile):
    """The PDF of a manual that is read from its XML: nothing is lost without it."""


def _first_pages(path: Path, name: str) -> list[str]:
    import pypdfium2

    with path.open("rb") as stream:
        stream.seek(max(path.stat().st_size - 2048, 0))
        if b"%%EOF" not in stream.read():
            raise DamagedFile(f"{name}: the PDF is cut off (no end mark); fetch it again")
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise _unreadable(name, str(error)) from error
    try:
        count = min(TITLE_PAGES, len(document))
        return [document[number].get_textpage().get_text_range() for number in range(count)]
    except pypdfium2.PdfiumError as error:
        raise _unreadable(name, str(error)) from error
    finally:
        document.close()


def _unreadable(name: str, reason: str) -> ManualError:
    if "password" in reason.lower() or "security" in reason.lower():
        return DamagedFile(f"{name}: the PDF is encrypted; save it without a password")
    return DamagedFile(f"{name}: the PDF cannot be read ({reason}); fetch it again")


def _guidelines(text: str, name: str) -> Recognised:
    found = re.search(r"\bFY\s?(20\d\d)\b", text) or re.search(
        r"October 1, 20\d\d\s*[-–—]\s*September 30, (20\d\d)", text
    )
    if found is None:
        raise UnrecognisedFile(
            f"{name}: the coding guidelines without their fiscal year on the title page; "
            f"fetch the official file again"
        )
    release = re.search(r"\bFY\s?20\d\d(?:\s*-+\s*UPDATED [A-Z][a-z]+ \d+, 20\d\d)?", text)
    return Recognised("guidelines", int(found[1]), release[0] if release else f"FY {found[1]}")


def _ussg(text: str, name: str) -> Recognised:
    foot = re.search(r"Guidelines Manual \(([A-Z][a-z]+ \d{1,2}, \d{4})\)", text) or re.search(
        r"effective ([A-Z][a-z]+ \d{1,2}, \d{4}), and earlier", text
    )
    day = long_date(foot[1]) if foot else None
    if foot and day:
        return Recognised("ussg", day.year, foot[1])
    year = re.search(r"GUIDELINES MANUAL\s+(?:ANNOTATED\s+)?(\d{4})\b", text, re.IGNORECASE)
    if year is None:
        raise UnrecognisedFile(
            f"{name}: a Guidelines Manual without its year on the first pages; "
            f"fetch the official file again"
        )
    return Recognised("ussg", int(year[1]), year[1])
