"""Text objects of a PDF's page with their fonts and places (PDFium)."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from manuals.pdf.hyphens import HYPHEN

#: PDFium's marks for a broken word, and characters that lines do without
MARKS = str.maketrans({"\ufffe": HYPHEN, "\u00ad": HYPHEN, "\r": None, "\u00a0": " "})
_BOLD = re.compile(r"bold|black|heavy|demi", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli", re.IGNORECASE)
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_FORCE_BOLD = 1 << 18
_ITALIC_FLAG = 1 << 6
_TEXT_BUFFER = 32768
#: a text object wider than this many sizes a character can hold several cells
_STRETCHED = 0.64


class Fragment(NamedTuple):
    """A run of one font within a line. ``x0`` and ``x1`` are points from the page's left."""

    text: str
    font: str
    size: float
    bold: bool
    italic: bool
    x0: float
    x1: float


class Run(NamedTuple):
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


def page_runs(page: Any) -> list[Run]:
    left, _, _, top = page.get_cropbox()
    textpage = page.get_textpage()
    buffer = ctypes.create_string_buffer(2 * _TEXT_BUFFER)
    pointer = ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort))
    size = ctypes.c_float()
    box = [ctypes.c_float() for _ in range(4)]
    fonts: dict[int, tuple[str, bool, bool]] = {}
    cells = _Cells(textpage.raw)
    runs: list[Run] = []
    for order, (item, outer) in enumerate(_text_objects(page)):
        units = pdfium.FPDFTextObj_GetText(item, textpage.raw, pointer, _TEXT_BUFFER)
        text = ctypes.string_at(buffer, max(2 * (units // 2 - 1), 0)).decode("utf-16le", "replace")
        text = text.translate(MARKS)
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
            runs.append(Run(round(top - matrix.f, 2), order, fragment))
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
            character = chr(pdfium.FPDFText_GetUnicode(self._textpage, index)).translate(MARKS)
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
