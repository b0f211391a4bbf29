"""Text of a PDF: plain by page, or by visual line with fonts and places (PDFium).

A word that the printer broke at a line end comes with the marker ``HYPHEN`` in place of its
hyphen, as PDFium recognises it; ``join_lines`` puts such words together again. PDFium cannot know
whether the hyphen belongs to the word (``drug-`` / ``related``); ``Hyphens`` decides by how the
rest of the document writes the word.

PDFium is not thread-safe: read PDFs from one thread of a process.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pypdfium2
import pypdfium2.raw as pdfium

from tam.errors import DamagedFile

#: stands at the end of a line for a hyphen at which a word was broken
HYPHEN = "\x02"

_MARKS = str.maketrans({"\ufffe": HYPHEN, "\u00ad": HYPHEN, "\r": None, "\u00a0": " "})
_BOLD = re.compile(r"bold|black|heavy|demi", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli", re.IGNORECASE)
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_FORCE_BOLD = 1 << 18
_ITALIC_FLAG = 1 << 6
_TEXT_BUFFER = 32768
#: fewer characters a page on average are those of a scanned file
_TEXTLESS = 5
#: a gap between two runs wider than this share of the size is a space (that after a narrow
#: character such as "1" reaches 0.3 in the official PDFs, which write their spaces out)
_SPACE = 0.32
#: a text object wider than this many sizes a character can hold several cells
_STRETCHED = 0.64
#: baselines nearer than this share of the size make one line (superscripts lie off it)
_BASELINE = 0.45


class Fragment(NamedTuple):
    """A run of one font within a line. ``x0`` and ``x1`` are points from the page's left."""

    text: str
    font: str
    size: float
    bold: bool
    italic: bool
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Line:
    """A visual line. ``page`` is 1-based; places are points from the page's left and top.

    ``y1`` is the baseline and ``y0`` one size above it. ``font``, ``size``, ``bold`` and
    ``italic`` are those of most of the line's characters.
    """

    text: str
    page: int
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    font: str
    bold: bool
    italic: bool
    fragments: tuple[Fragment, ...]


@contextmanager
def open_pdf(path: Path) -> Iterator[Any]:
    """The document; ``DamagedFile`` for what is no whole, readable PDF."""
    data = path.read_bytes()
    head = data[:1024].lstrip()
    if b"%PDF-" not in data[:1024]:
        if head[:1] == b"<":
            raise DamagedFile(
                f"{path}: a web page saved under a PDF's name (an error page of the server?); "
                f"download the file again"
            )
        raise DamagedFile(f"{path}: not a PDF (no %PDF header); download the file again")
    if b"%%EOF" not in data[-2048:]:
        raise DamagedFile(f"{path}: truncated PDF (no end mark); download the file again")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD or "assword" in str(error):
            raise DamagedFile(
                f"{path}: encrypted PDF; save a copy without a password and use that"
            ) from error
        raise DamagedFile(f"{path}: damaged PDF ({error}); download the file again") from error
    try:
        yield document
    finally:
        document.close()


def page_count(path: Path) -> int:
    """Number of pages."""
    with open_pdf(path) as document:
        return len(document)


def page_texts(path: Path, pages: Iterable[int] | None = None) -> list[str]:
    """Plain text of each page (or of the given 1-based ``pages``) in the file's own order.

    Lines end with ``\\n``; a broken word reads ``frag`` + ``HYPHEN`` + ``ment`` on one line.
    Raises ``DamagedFile``, also when the file holds no text.
    """
    texts: list[str] = []
    with open_pdf(path) as document:
        for number in pages if pages is not None else range(1, len(document) + 1):
            page = _page(document, number, path)
            textpage = page.get_textpage()
            texts.append(textpage.get_text_range().translate(_MARKS))
            textpage.close()
            page.close()
    if pages is None:
        _require_text(sum(len(text.strip()) for text in texts), len(texts), path)
    return texts


def read_lines(path: Path, pages: Iterable[int] | None = None) -> list[Line]:
    """Visual lines of the whole file (or of the given 1-based ``pages``), top to bottom.

    What stands beside each other on one baseline, such as a margin label and the text at its
    right, or the cells of a table's row, is one line; ``split_line`` parts it.
    Raises ``DamagedFile``, also when the file holds no text.
    """
    lines: list[Line] = []
    count = 0
    with open_pdf(path) as document:
        for number in pages if pages is not None else range(1, len(document) + 1):
            page = _page(document, number, path)
            lines.extend(_visual_lines(_runs(page), number))
            page.close()
            count += 1
    if pages is None:
        _require_text(sum(len(line.text) for line in lines), count, path)
    return lines


def _page(document: Any, number: int, path: Path) -> Any:
    try:
        return document[number - 1]
    except pypdfium2.PdfiumError as error:
        raise DamagedFile(
            f"{path}: page {number} cannot be read ({error}); download the file again"
        ) from error


def _require_text(characters: int, pages: int, path: Path) -> None:
    if characters < _TEXTLESS * pages or not characters:
        raise DamagedFile(
            f"{path}: PDF without text ({characters} characters on {pages} pages; scanned?); "
            f"use the publisher's PDF or run a text recognition on it"
        )


class _Run(NamedTuple):
    baseline: float
    order: int
    fragment: Fragment


@cache
def _style(name: str, flags: int) -> tuple[str, bool, bool]:
    name = _SUBSET.sub("", name)
    bold = bool(_BOLD.search(name)) or bool(flags & _FORCE_BOLD)
    return name, bold, bool(_ITALIC.search(name)) or bool(flags & _ITALIC_FLAG)


def _font(font: Any) -> tuple[str, bool, bool]:
    length = pdfium.FPDFFont_GetBaseFontName(font, None, 0)
    buffer = ctypes.create_string_buffer(max(length, 1))
    pdfium.FPDFFont_GetBaseFontName(font, buffer, length)
    return _style(buffer.value.decode("utf-8", "replace"), pdfium.FPDFFont_GetFlags(font))


class _Matrix(NamedTuple):
    """``x' = a x + c y + e``, ``y' = b x + d y + f`` (PDF 32000-1, 8.3.3)."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    def point(self, x: float, y: float) -> tuple[float, float]:
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def after(self, inner: _Matrix) -> _Matrix:
        """``inner`` first, then this one."""
        e, f = self.point(inner.e, inner.f)
        return _Matrix(
            self.a * inner.a + self.c * inner.b,
            self.b * inner.a + self.d * inner.b,
            self.a * inner.c + self.c * inner.d,
            self.b * inner.c + self.d * inner.d,
            e,
            f,
        )


_IDENTITY = _Matrix(1, 0, 0, 1, 0, 0)


def _matrix(item: Any) -> _Matrix:
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(item, matrix)
    return _Matrix(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)


def _text_objects(page: Any) -> Iterator[tuple[Any, _Matrix]]:
    """All text objects in drawing order with the matrix of the form objects they stand in."""

    def inside(item: Any, outer: _Matrix) -> Iterator[tuple[Any, _Matrix]]:
        kind = pdfium.FPDFPageObj_GetType(item)
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            yield item, outer
        elif kind == pdfium.FPDF_PAGEOBJ_FORM:
            outer = outer.after(_matrix(item))
            for index in range(pdfium.FPDFFormObj_CountObjects(item)):
                yield from inside(pdfium.FPDFFormObj_GetObject(item, index), outer)

    for index in range(pdfium.FPDFPage_CountObjects(page.raw)):
        yield from inside(pdfium.FPDFPage_GetObject(page.raw, index), _IDENTITY)


def _runs(page: Any) -> list[_Run]:
    left, _, _, top = page.get_cropbox()
    textpage = page.get_textpage()
    buffer = ctypes.create_string_buffer(2 * _TEXT_BUFFER)
    pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    size = ctypes.c_float()
    box = [ctypes.c_float() for _ in range(4)]
    fonts: dict[int, tuple[str, bool, bool]] = {}
    cells = _Cells(textpage.raw)
    runs: list[_Run] = []
    for order, (item, outer) in enumerate(_text_objects(page)):
        units = pdfium.FPDFTextObj_GetText(item, textpage.raw, pointer, _TEXT_BUFFER)
        text = ctypes.string_at(buffer, max(2 * (units // 2 - 1), 0)).decode("utf-16le", "replace")
        text = text.translate(_MARKS)
        if not text or text.isspace():
            continue
        pdfium.FPDFTextObj_GetFontSize(item, size)
        pdfium.FPDFPageObj_GetBounds(item, *box)
        font = pdfium.FPDFTextObj_GetFont(item)
        name, bold, italic = fonts.get(_address(font)) or fonts.setdefault(
            _address(font), _font(font)
        )
        matrix = outer.after(_matrix(item))
        points = round(size.value * (matrix.c**2 + matrix.d**2) ** 0.5, 2)
        corners = [outer.point(box[0].value, box[1].value), outer.point(box[2].value, box[3].value)]
        x0, x1 = sorted(x for x, _ in corners)
        parts = [(text, x0, x1)]
        if " " in text and x1 - x0 > _STRETCHED * points * len(text):
            parts = cells.of(item, 2 * points) or parts
        for part, start, end in parts:
            fragment = Fragment(
                part, name, points, bold, italic, round(start - left, 2), round(end - left, 2)
            )
            runs.append(_Run(round(top - matrix.f, 2), order, fragment))
    textpage.close()
    return runs


def _address(item: Any) -> int:
    return ctypes.cast(item, ctypes.c_void_p).value or 0


class _Cells:
    """Parts of text objects that hold several cells of a table's row, by their characters.

    Some rows are drawn as one object in which only the positions tell the cells apart.
    """

    def __init__(self, textpage: Any) -> None:
        self._textpage = textpage
        self._characters: dict[int, list[int]] | None = None

    def _of_objects(self) -> dict[int, list[int]]:
        if self._characters is None:
            self._characters = {}
            for index in range(pdfium.FPDFText_CountChars(self._textpage)):
                item = pdfium.FPDFText_GetTextObject(self._textpage, index)
                if item:
                    self._characters.setdefault(_address(item), []).append(index)
        return self._characters

    def of(self, item: Any, gap: float) -> list[tuple[str, float, float]]:
        """(text, left, right) of the parts between gaps wider than ``gap``, in points."""
        box = [ctypes.c_double() for _ in range(4)]
        parts: list[tuple[str, float, float]] = []
        text, start, end = "", 0.0, 0.0
        for index in self._of_objects().get(_address(item), ()):
            character = chr(pdfium.FPDFText_GetUnicode(self._textpage, index)).translate(_MARKS)
            if character.isspace():
                text += " " if text else ""
                continue
            pdfium.FPDFText_GetCharBox(self._textpage, index, *box)
            if text and box[0].value - end > gap:
                parts.append((text.strip(), start, end))
                text = ""
            if not text:
                start = box[0].value
            text += character
            end = box[1].value
        return [*parts, (text, start, end)] if parts else []


def _visual_lines(runs: Sequence[_Run], page: int) -> Iterator[Line]:
    """Runs whose baselines lie together, from the top; in a line from the left."""
    rows: list[list[_Run]] = []
    base = size = 0.0
    for run in sorted(runs):
        # A row's baseline is that of its largest run, so that superscripts do not move it.
        if rows and run.baseline - base < _BASELINE * max(size, run.fragment.size):
            rows[-1].append(run)
            if run.fragment.size > size:
                base, size = run.baseline, run.fragment.size
        else:
            rows.append([run])
            base, size = run.baseline, run.fragment.size
    for row in rows:
        row.sort(key=lambda run: (run.fragment.x0, run.order))
        baseline = max(row, key=lambda run: (len(run.fragment.text), -run.order)).baseline
        yield _line([run.fragment for run in row], page, baseline)


def _line(fragments: Sequence[Fragment], page: int, baseline: float) -> Line:
    """One line of fragments that stand beside each other; runs of one font become one."""
    joined: list[Fragment] = []
    for fragment in fragments:
        if not joined:
            joined.append(fragment._replace(text=fragment.text.lstrip()))
            continue
        last = joined[-1]
        gap = fragment.x0 - last.x1
        spaced = last.text[-1:].isspace() or fragment.text[:1].isspace()
        text = fragment.text
        if not spaced and gap > _SPACE * min(last.size, fragment.size):
            text = " " + text
        # A wide gap keeps two runs apart, so that split_line can find it.
        near = gap < 0.6 * fragment.size
        if near and fragment[1:5] == last[1:5]:
            joined[-1] = last._replace(text=last.text + text, x1=max(last.x1, fragment.x1))
        else:
            joined.append(fragment._replace(text=text))
    joined[-1] = joined[-1]._replace(text=joined[-1].text.rstrip(" \t\n"))
    styles: Counter[tuple[str, float, bool, bool]] = Counter()
    for part in joined:
        styles[part.font, part.size, part.bold, part.italic] += len(part.text.strip())
    font, size, bold, italic = max(styles, key=lambda style: styles[style])
    text = re.sub(r"[ \t\n]+", " ", "".join(part.text for part in joined)).strip(" ")
    x0, x1 = joined[0].x0, max(part.x1 for part in joined)
    return Line(
        text, page, x0, x1, round(baseline - size, 2), baseline, size, font, bold, italic,
        tuple(joined),
    )  # fmt: skip


def split_line(line: Line, x: float) -> tuple[Line | None, Line | None]:
    """The parts of a line left and right of ``x``; a run belongs where it begins."""
    left = [part for part in line.fragments if part.x0 < x]
    right = [part for part in line.fragments if part.x0 >= x]
    if not left or not right:
        return (line, None) if left else (None, line)
    return _line(left, line.page, line.y1), _line(right, line.page, line.y1)


def make_line(fragments: Sequence[Fragment], like: Line) -> Line:
    """A line of other runs in the place of ``like``."""
    return _line(fragments, like.page, like.y1)


def columns(lines: Sequence[Line], x: float) -> list[Line]:
    """Lines of one page with two columns parted at ``x``: the left column, then the right one.

    A line with a run across ``x`` stands over both and parts what is above from what is below.
    """
    ordered: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in lines:
        if any(part.x0 < x - 1 and part.x1 > x + 1 for part in line.fragments):
            ordered += [*left, *right, line]
            left, right = [], []
            continue
        first, second = split_line(line, x)
        left += [first] if first else []
        right += [second] if second else []
    return [*ordered, *left, *right]


class Hyphens:
    """Decides whether a hyphen at which a word was broken belongs to the word.

    It does when the document elsewhere writes the word with a hyphen more often than without.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._words: Counter[str] = Counter()
        for text in texts:
            self._words.update(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", text.lower()))

    def join(self, left: str, right: str) -> str:
        """``left`` and ``right`` of a broken word as one, with or without the hyphen."""
        head = re.search(r"[^\W\d_]*(?:-[^\W\d_]*)*$", left.lower())
        tail = re.match(r"[^\W\d_]*", right.lower())
        first = head.group() if head else ""
        second = tail.group() if tail else ""
        plain = self._words[first + second]
        hyphenated = self._words[f"{first}-{second}"]
        return f"{left}-{right}" if hyphenated > plain else left + right


def join_lines(texts: Iterable[str], hyphens: Hyphens | None = None) -> str:
    """Lines as one paragraph: broken words rejoined, else a space between two lines.

    A line that ends with a hyphen of its own (``self-``, ``1-``) is joined without a space.
    """
    joined = ""
    for text in texts:
        text = text.strip(" ")
        if joined.endswith(HYPHEN):
            left = joined[:-1]
            joined = hyphens.join(left, text) if hyphens else left + text
        elif not joined or (joined[-1:] == "-" and joined[-2:-1].isalnum()):
            joined += text
        else:
            joined = f"{joined} {text}"
    # A marker inside a line is a broken word that PDFium rejoined itself.
    return joined.rstrip(HYPHEN).replace(HYPHEN, "")
