"""Write the sample Guidelines Manuals: the official layout, our own wording, two editions.

    python tests/make_sample_pdfs.py            # into manuals/sample/ussg/<year>/GLMFull.pdf

The text stands in ``sample_ussg.txt``. The layout follows the official PDF: running heads and page
feet with a double bar, section heads over several lines, the label *Historical Note* in the margin
over two lines, justified text with words broken at line ends, cross-references that wrap to the
start of a line, tables, and the Statutory Index in two columns of two cells. The bytes are the
same on every run.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib
from reportlab.lib.pagesizes import letter
from reportlab.pdfbase.pdfmetrics import registerFont, stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

HERE = Path(__file__).resolve().parent
TEXT = HERE / "sample_ussg.txt"
OUT = HERE.parent / "manuals" / "sample" / "ussg"
YEARS = (2023, 2024)

ROMAN, BOLD, ITALIC = "Times-Roman", "Times-Bold", "Times-Italic"
# The double bar of the feet and the bar of the PART heads are in no standard font.
SANS, HEAD = "DejaVuSans", "DejaVuSans-Bold"

LEFT, RIGHT, TOP, BOTTOM = 73.0, 540.0, 90.0, 726.0
BODY, TEXT_SIZE, NOTE_SIZE, HEAD_SIZE = 10.0, 11.5, 7.6, 11.0
GUIDELINE_X = 123.0

Run = tuple[float, str, float, str, float]  # x, font, size, text, word space


@dataclass
class Page:
    """Runs by baseline (points from the top) and the running head."""

    runs: list[tuple[float, Run]] = field(default_factory=list)
    head: str = ""


@dataclass
class Layout:
    pages: list[Page] = field(default_factory=lambda: [Page()])
    y: float = TOP
    head: str = ""
    contents: list[tuple[int, str, int]] = field(default_factory=list)

    def new_page(self) -> None:
        self.pages.append(Page(head=self.head))
        self.y = TOP

    def begin(self, head: str) -> None:
        """From here on pages carry this running head, as does a page that had none."""
        self.head = head
        if not self.pages[-1].head or self.y == TOP:
            self.pages[-1].head = head

    def room(self, height: float) -> None:
        if self.y + height > BOTTOM:
            self.new_page()

    def place(self, runs: Sequence[Run], leading: float) -> None:
        self.room(0.0)
        self.pages[-1].runs += [(self.y, run) for run in runs]
        self.y += leading

    def note(self, level: int, text: str) -> None:
        self.contents.append((level, text, len(self.pages)))


def spans_of(text: str) -> list[tuple[str, bool]]:
    """``a **b** c`` as words with their weight; one without a blank before it begins with NUL."""
    words: list[tuple[str, bool]] = []
    before = " "
    for number, part in enumerate(text.split("**")):
        for index, word in enumerate(part.split()):
            glued = index == 0 and words and not before[-1:].isspace() and not part[0].isspace()
            words.append((("\0" if glued else "") + word, number % 2 == 1))
        before = part or before
    return words


def wrap(
    text: str, width: float, size: float, first: float, fonts: tuple[str, str]
) -> Iterator[tuple[list[tuple[str, bool]], bool]]:
    """Lines as runs (text, bold) and whether the line is full; ``first`` is the first's indent."""
    line: list[tuple[str, bool]] = []
    room = width - first
    used = 0.0
    words = spans_of(text)
    position = 0
    while position < len(words):
        word, bold = words[position]
        glued = word.startswith("\0")
        plain = word.lstrip("\0")
        blank = "" if glued or not line else " "
        wide = stringWidth(blank + plain, fonts[bold], size)
        if plain.startswith("¦"):
            # A line end asked for, so that a cross-reference stands at the start of a line.
            words[position] = (plain[1:], bold)
            yield line, True
            line, used, room = [], 0.0, width
            continue
        if line and used + wide > room and not glued:
            head, tail = broken(plain, room - used, size, fonts[bold])
            if head:
                line.append((" " + head + "-", bold))
                words[position] = (tail, bold)
            yield line, True
            line, used, room = [], 0.0, width
            continue
        line.append((blank + plain, bold))
        used += wide
        position += 1
    if line:
        yield line, False


def broken(word: str, room: float, size: float, font: str) -> tuple[str, str]:
    """The part of a long word that fits with a hyphen, and the rest; else nothing."""
    if not re.fullmatch(r"[A-Za-z]{8,}[.,;:]?", word):
        return "", word
    for cut in range(len(word) - 4, 2, -1):
        before, after = word[cut - 1].lower(), word[cut].lower()
        if before in "aeiou" and after not in "aeiou":
            continue
        if stringWidth(f" {word[:cut]}-", font, size) <= room and word[cut].islower():
            return word[:cut], word[cut:]
    return "", word


def paragraph(
    layout: Layout,
    text: str,
    x: float,
    size: float,
    *,
    label: str = "",
    hang: float = 25.0,
    right: float = RIGHT,
    first: float = 0.0,
    fonts: tuple[str, str] = (ROMAN, BOLD),
    gap: float = 1.0,
) -> None:
    """A justified paragraph; a ``label`` stands at ``x`` and the text hangs behind it."""
    leading = 1.2 * size
    layout.y += gap * leading
    layout.room(leading)
    body = x + hang if label else x
    for number, (line, full) in enumerate(wrap(text, right - body, size, first, fonts)):
        start = body + (first if number == 0 else 0.0)
        width = sum(stringWidth(part, fonts[bold], size) for part, bold in line)
        blanks = sum(part.count(" ") for part, _ in line)
        space = (right - start - width) / blanks if full and blanks else 0.0
        runs: list[Run] = [(x, fonts[0], size, label, 0.0)] if label and number == 0 else []
        for part, bold in merged(line):
            runs.append((start, fonts[bold], size, part, space))
            start += stringWidth(part, fonts[bold], size) + part.count(" ") * space
        layout.place(runs, leading)


def merged(line: Sequence[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    text, weight = "", False
    for part, bold in line:
        if text and bold != weight:
            yield text, weight
            text = ""
        text, weight = text + part, bold
    yield text, weight


def heading(
    layout: Layout, text: str, x: float, size: float, *, hang: float = 0.0, place: str = "left"
) -> None:
    """A ragged bold heading; ``place`` is left, centre or right."""
    layout.y += 2.2 * size
    layout.room(4.5 * size)
    words, line = text.split(), ""
    lines: list[str] = []
    for word in words:
        trial = f"{line} {word}".strip()
        if line and x + (hang if lines else 0.0) + stringWidth(trial, HEAD, size) > RIGHT - 8:
            lines.append(line)
            trial = word
        line = trial
    lines.append(line)
    for number, part in enumerate(lines):
        width = stringWidth(part, HEAD, size)
        start = {
            "left": x + (hang if number else 0.0),
            "centre": 306.0 - width / 2,
            "right": RIGHT - width,
        }[place]
        layout.place([(start, HEAD, size, part, 0.0)], 1.25 * size)


LABEL = re.compile(r"^(\([A-Za-z0-9]+\)|•)\s+(.*)$", re.DOTALL)


class Writer:
    """Turns the lines of the text file into placed lines."""

    def __init__(self) -> None:
        self.layout = Layout()
        self.mode = "guideline"
        self.chapter = self.part = ""

    def line(self, raw: str) -> None:
        text = raw.strip()
        if raw.startswith("="):
            self.group(*raw[1:].split(" ", 1))
        elif raw.startswith("# "):
            self.guideline(raw[2:])
        elif raw.startswith("~"):
            self.subheading(*[*raw[1:].split(" ", 1), ""][:2])
        elif self.mode == "guideline":
            self.provision(raw, text)
        elif self.mode == "notes":
            self.note(raw, text)
        else:
            paragraph(self.layout, text, LEFT, BODY, first=25.0)

    # -- headings

    def group(self, kind: str, text: str = "") -> None:
        layout = self.layout
        self.mode = "guideline"
        if kind in ("chapter", "appendix"):
            name, title = (part.strip() for part in text.split("|"))
            if layout.pages[-1].runs:
                layout.new_page()
            self.chapter = str(1 + sum(level == 0 for level, _, _ in layout.contents))
            layout.begin(f"Ch. {self.chapter}" if kind == "chapter" else name)
            layout.y -= 30.0
            heading(layout, name, LEFT, 18.0)
            heading(layout, title, 160.0, 18.0, place="right")
            layout.note(0, f"{name} {title}")
        elif kind == "part":
            self.part = text[5]
            layout.begin(f"Ch. {self.chapter} Pt. {self.part}")
            heading(layout, text, LEFT, 14.0, place="centre")
            layout.note(1, text)
        elif kind == "subpart":
            heading(layout, text, LEFT, HEAD_SIZE + 0.5, hang=25.0)
            layout.note(2, text)
        elif kind == "table":
            layout.new_page()
            heading(layout, text, LEFT, 13.0, place="centre")
        elif kind == "levels":
            first, last = (int(number) for number in text.split())
            for level in range(first, last + 1):
                cells = [str(level), *(sentence(level, column) for column in range(6))]
                self.row(cells, 13.0)
        elif kind == "index":
            heading(layout, "INDEX", LEFT, 14.0, place="centre")
            layout.y += 20.0
            self.mode = "index"

    def guideline(self, text: str) -> None:
        layout = self.layout
        self.mode = "guideline"
        number = re.split(r"\.\s", text, maxsplit=1)[0]
        if layout.y > 640.0:
            layout.new_page()
        layout.begin(number)
        heading(layout, text, LEFT, HEAD_SIZE + 0.5, hang=50.0)

    def subheading(self, kind: str, text: str) -> None:
        layout = self.layout
        if kind == "historical":
            self.historical(text)
        elif kind == "rule":
            layout.y += 14.0
            layout.place([(256.0, BOLD, TEXT_SIZE, "* * * * *", 0.0)], 14.0)
        elif kind in ("intro", "commentary", "commentary-to", "concluding", "introduction"):
            words = {
                "intro": "Introductory Commentary",
                "commentary": "Commentary",
                "introduction": "INTRODUCTION",
            }
            layout.y += 8.0
            layout.room(40.0)
            label = words.get(kind, text)
            width = stringWidth(label, HEAD, BODY)
            layout.place([(306.0 - width / 2, HEAD, BODY, label, 0.0)], 12.0)
            self.mode = "plain"
        elif kind == "notes":
            layout.y += 4.0
            layout.place([(LEFT, BOLD, BODY, text, 0.0)], 12.0)
            self.mode = "notes"
        else:
            name, rest = text.split(":", 1)
            paragraph(layout, f"**{name}:**{rest}", LEFT, BODY)
            self.mode = "plain"

    def historical(self, text: str) -> None:
        layout = self.layout
        lines = list(wrap(text, 370.0, NOTE_SIZE, 0.0, (ROMAN, BOLD)))
        layout.y += 12.0
        layout.room(9.0 * len(lines) + 9.0)
        top = layout.y
        page = layout.pages[-1]
        # The label stands in the middle of the note: on its lines, or between two of them.
        middle = top + (len(lines) - 1) * 4.5
        page.runs.append((middle - 4.5, (98.0, ITALIC, NOTE_SIZE, "Historical", 0.0)))
        page.runs.append((middle + 4.5, (107.0, ITALIC, NOTE_SIZE, "Note", 0.0)))
        layout.y -= 9.0
        paragraph(layout, text, 146.0, NOTE_SIZE, right=516.0)
        layout.y = max(layout.y, middle + 14.0)

    # -- text

    def provision(self, raw: str, text: str) -> None:
        depth = (len(raw) - len(raw.lstrip())) // 2
        x = GUIDELINE_X + 25.0 * depth
        found = LABEL.match(text)
        inner = LABEL.match(found[2]) if found else None
        if found and inner:
            # (c) (1) on one line
            paragraph(self.layout, found[2], x, TEXT_SIZE, label=found[1])
        elif found:
            paragraph(self.layout, found[2], x, TEXT_SIZE, label=found[1])
        else:
            paragraph(self.layout, text, x, TEXT_SIZE)

    def note(self, raw: str, text: str) -> None:
        found = re.match(r"^(\d{1,2}\.)\s+(.*)$", text)
        inner = LABEL.match(text)
        if found and not raw.startswith(" "):
            paragraph(self.layout, found[2], LEFT, BODY, label=found[1])
        elif inner:
            paragraph(self.layout, inner[2], 98.0, BODY, label=inner[1])
        else:
            paragraph(self.layout, text, 98.0, BODY)

    # -- tables

    def table(self, lines: Sequence[str]) -> None:
        layout = self.layout
        layout.y += 12.0
        layout.room(40.0)
        # A table of long rows reaches to the left of the text that it belongs to.
        left = 98.0 if any("•" in raw for raw in lines) else 175.0
        for number, raw in enumerate(lines):
            cells = [cell.strip() for cell in raw.split("|")]
            size = 9.0 if number == 0 else TEXT_SIZE
            x = left - 25.0 * (number == 0)
            found = LABEL.match(cells[0])
            runs: list[Run] = []
            if found and found[1] != "•":
                runs.append((x, ROMAN, size, found[1], 0.0))
                cells[0] = found[2]
            start = x + (25.0 if found else 0.0)
            for place, cell in zip((start, 420.0, 480.0), cells, strict=False):
                for part, bold in merged([(w, b) for w, b in cell_words(cell)]):
                    runs.append((place, BOLD if bold else ROMAN, size, part, 0.0))
                    place += stringWidth(part, BOLD if bold else ROMAN, size)
            layout.place(runs, 1.2 * size + (8.0 if number == 0 else 0.0))

    def row(self, cells: Sequence[str], leading: float, font: str = ROMAN) -> None:
        places = (126.0, 190.0, 250.0, 310.0, 370.0, 430.0, 490.0)
        runs = [(x, font, BODY, cell, 0.0) for x, cell in zip(places, cells, strict=False)]
        if cells[0] in ("4", "14"):
            runs.insert(0, (62.0, BOLD, BODY, "Zone A" if cells[0] == "4" else "Zone B", 0.0))
        self.layout.place(runs, leading)

    def index(self, lines: Sequence[str]) -> None:
        """The Statutory Index: rows down the left column, then the right one, page by page."""
        layout = self.layout
        for x in (73.0, 320.0):
            layout.pages[-1].runs.append((layout.y, (x, HEAD, 12.0, "Statute", 0.0)))
            layout.pages[-1].runs.append((layout.y, (x + 117.0, HEAD, 12.0, "Guideline", 0.0)))
        top = layout.y + 24.0
        column, layout.y = 0, top
        for raw in lines:
            statute, guideline = (cell.strip() for cell in raw.split("|"))
            left = list(cell_lines(statute, 112.0))
            right = list(cell_lines(guideline, 100.0))
            height = 12.0 * max(len(left), len(right)) + 12.0
            # Few rows in the first column, so that a short sample fills both.
            if layout.y + height > (620.0 if layout.y > 0 else BOTTOM):
                column += 1
                layout.y = top
                if column == 2:
                    layout.new_page()
                    column, top, layout.y = 0, TOP, TOP
            x = (73.0, 320.0)[column]
            below = layout.pages[-1].runs
            offset = len(left) - 1 if len(right) == 1 else 0
            for number, part in enumerate(left):
                small = 9.0 if part.startswith("(") else BODY
                indent = 4.0 if number else 0.0
                below.append((layout.y + 12.0 * number, (x + indent, ROMAN, small, part, 0.0)))
            for number, part in enumerate(right):
                y = layout.y + 12.0 * (number + offset)
                below.append((y, (x + 117.0, ROMAN, BODY, part, 0.0)))
            layout.y += height
        layout.new_page()


def cell_words(cell: str) -> Iterator[tuple[str, bool]]:
    for number, part in enumerate(cell.split("**")):
        if part:
            yield part, number % 2 == 1


def cell_lines(text: str, width: float) -> Iterator[str]:
    line = ""
    for word in text.split():
        trial = f"{line} {word}".strip()
        condition = word.startswith("(") and line.endswith(tuple("0123456789"))
        if line and (stringWidth(trial, ROMAN, BODY) > width or (condition and width > 110)):
            yield line
            trial = word
        line = trial
    yield line


#: least months of the ranges, from level 9 on (the table's first column)
MONTHS = (
    *(4, 6, 8, 10, 12, 15, 18, 21, 24, 27, 30, 33, 37, 41, 46, 51, 57, 63, 70, 78, 87, 97),
    *(108, 121, 135, 151, 168, 188, 210, 235, 262, 292, 324),
)
MOST = (
    *(10, 12, 14, 16, 18, 21, 24, 27, 30, 33, 37, 41, 46, 51, 57, 63, 71, 78, 87, 97, 108, 121),
    *(135, 151, 168, 188, 210, 235, 262, 293, 327, 365, 405),
)


def sentence(level: int, column: int) -> str:
    """The sample's range: the first column is real, each other one is shifted by a level."""
    step = level + column - 9
    if level == 43:
        return "life"
    if step < 0:
        return "0–6"
    return f"{MONTHS[step]}–{MOST[step]}" if step < len(MONTHS) else "360–life"


def lines_of(year: int) -> list[str]:
    lines = []
    for raw in TEXT.read_text(encoding="utf-8").splitlines():
        found = re.match(r"^\{(\d{4})\}", raw)
        if raw.strip() and not raw.startswith("//") and (not found or int(found[1]) == year):
            lines.append(raw[found.end() :] if found else raw)
    return lines


def write_body(year: int) -> Layout:
    writer = Writer()
    lines = lines_of(year)
    position = 0
    while position < len(lines):
        raw = lines[position]
        if raw.startswith("@table") or writer.mode == "index":
            index = writer.mode == "index"
            end = next(
                i
                for i in range(position, len(lines))
                if lines[i] == "@end" or (index and lines[i].startswith("~"))
            )
            if index:
                writer.index(lines[position:end])
                writer.mode = "plain"
                position = end
            else:
                writer.table([raw.removeprefix("@table "), *lines[position + 1 : end]])
                position = end + 1
            continue
        if re.match(r"^(Offense|Level) \| ", raw):
            writer.layout.y += 4.0
            writer.row([cell.strip() for cell in raw.split("|")], 13.0, BOLD)
        else:
            writer.line(raw)
        position += 1
    return writer.layout


def front(year: int, contents: Sequence[tuple[int, str, int]]) -> list[Page]:
    """Title page, citation form, table of contents, further volumes."""
    title = Page()
    for y, size, font, text in (
        (123.0, 22.0, SANS, "UNITED STATES SENTENCING COMMISSION"),
        (173.0, 40.0, HEAD, "GUIDELINES MANUAL"),
        (229.0, 40.0, HEAD, str(year)),
        (500.0, 12.0, SANS, "Sample for tests: own wording in the official layout."),
    ):
        x = 306.0 - stringWidth(text, font, size) / 2
        title.runs.append((y, (x, font, size, text, 0.0)))
    for y, text in (
        (725.0, "This document contains the sample text of the Guidelines Manual incorporating"),
        (739.0, f"amendments effective November 1, {year}, and earlier."),
    ):
        title.runs.append((y, (72.0, ROMAN, 12.0, text, 0.0)))
    citation = Page()
    for y, size, font, text in (
        (95.0, 16.0, HEAD, "RECOMMENDED CITATION FORM"),
        (140.0, 11.0, SANS, f"U.S. SENT’G COMM’N, GUIDELINES MANUAL §3E1.1 (Nov. {year})"),
        (170.0, 11.0, SANS, "USSG §2B1.1, comment. (n.1)"),
    ):
        citation.runs.append((y, (73.0, font, size, text, 0.0)))
    table = Page(head="TABLE OF CONTENTS")
    table.runs.append((95.0, (73.0, HEAD, 16.0, "TABLE OF CONTENTS", 0.0)))
    y = 120.0
    for level, text, page in contents:
        font = HEAD if level == 0 else ROMAN
        x, size = 73.0 + 10.0 * level, 9.0 if level == 0 else BODY
        parts = [text]
        if stringWidth(text, font, size) > 400.0:
            words = text.split(" ")
            half = len(words) // 2
            parts = [" ".join(words[:half]), " ".join(words[half:])]
        for part in parts[:-1]:
            table.runs.append((y, (x, font, size, part, 0.0)))
            y += 12.0
        dots = int((RIGHT - x - stringWidth(f"{parts[-1]} {page}", font, size)) / (0.32 * size))
        table.runs.append((y, (x, font, size, f"{parts[-1]} {'.' * (dots - 2)} {page}", 0.0)))
        y += 12.0
    volumes = Page(head="TABLE OF CONTENTS")
    for y, size, font, text in (
        (95.0, 16.0, HEAD, "SUPPLEMENTARY VOLUMES"),
        (138.0, 13.0, HEAD, "APPENDIX C"),
        (154.0, 11.0, ROMAN, "Amendments to the sample, which were never printed"),
    ):
        volumes.runs.append((y, (108.0, font, size, text, 0.0)))
    return [title, citation, table, volumes]


ROMANS = ("i", "ii", "iii", "iv")


def draw(path: Path, year: int) -> None:
    """One edition."""
    layout = write_body(year)
    opening = front(year, layout.contents)
    while not layout.pages[-1].runs:
        layout.pages.pop()
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), pagesize=letter, invariant=1, pageCompression=1)
    canvas.setTitle(f"Guidelines Manual {year} (sample)")
    canvas.setAuthor("sample")
    for number, page in enumerate([*opening, *layout.pages], start=1):
        printed = ROMANS[number - 1] if number <= len(opening) else str(number - len(opening))
        runs = list(page.runs)
        if number > 1:
            runs = [*furniture(page, number, printed, year), *runs]
        for y, (x, font, size, text, space) in runs:
            line = canvas.beginText(x, letter[1] - y)
            line.setFont(font, size)
            line.setWordSpace(space)
            line.textOut(text)
            canvas.drawText(line)
        canvas.showPage()
    canvas.save()


def furniture(page: Page, number: int, printed: str, year: int) -> Iterator[tuple[float, Run]]:
    odd = number % 2 == 1
    if page.head:
        width = stringWidth(page.head, HEAD, 13.0)
        yield 49.0, (RIGHT - width if odd else LEFT, HEAD, 13.0, page.head, 0.0)
    name = f"Guidelines Manual (November 1, {year})"
    foot = f"{name} ║ {printed}" if odd else f"{printed} ║ {name}"
    width = stringWidth(foot, SANS, 9.0)
    yield 754.0, (RIGHT - width if odd else LEFT, SANS, 9.0, foot, 0.0)


def main(out: Path = OUT) -> None:
    """Both editions below ``out``."""
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for name in (SANS, HEAD):
        registerFont(TTFont(name, str(fonts / f"{name}.ttf")))
    for year in YEARS:
        draw(out / str(year) / "GLMFull.pdf", year)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
