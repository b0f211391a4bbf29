"""Text of a PDF: plain by page, or by visual line with fonts and places (PDFium).

A word that the printer broke at a line end comes with the marker ``HYPHEN`` in place of its
hyphen, as PDFium recognises it; ``join_lines`` puts such words together again. PDFium cannot know
whether the hyphen belongs to the word (``drug-`` / ``related``); ``Hyphens`` decides by how the
rest of the document writes the word.

PDFium is not thread-safe: read PDFs from one thread of a process.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from manuals.pdf.hyphens import HYPHEN, Hyphens, join_lines
from manuals.pdf.objects import MARKS, Fragment, Run, page_runs
from tam.errors import DamagedFile

__all__ = [
    "HYPHEN",
    "Fragment",
    "Hyphens",
    "Line",
    "columns",
    "join_lines",
    "make_line",
    "open_pdf",
    "page_count",
    "page_texts",
    "read_lines",
    "split_line",
]


#: fewer characters a page on average are those of a scanned file
_TEXTLESS = 5
#: a gap between two runs wider than this share of the size is a space (that after a narrow
#: character such as "1" reaches 0.3 in the official PDFs, which write their spaces out)
_SPACE = 0.32
#: baselines nearer than this share of the size make one line (superscripts lie off it)
_BASELINE = 0.45


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
def open_pdf(path: Path, name: str = "") -> Iterator[Any]:
    """The document; ``DamagedFile``, naming it ``name``, for what is no whole, readable PDF."""
    name = name or str(path)
    data = path.read_bytes()
    if b"%PDF-" not in data[:1024]:
        if data[:1024].lstrip()[:1] == b"<":
            raise DamagedFile(
                f"{name}: a web page saved under a PDF's name (an error page of the server?); "
                f"download the file again"
            )
        raise DamagedFile(f"{name}: not a PDF (no %PDF header); download the file again")
    if b"%%EOF" not in data[-2048:]:
        raise DamagedFile(f"{name}: truncated PDF, cut off (no end mark); download the file again")
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _unreadable(name, error) from error
    try:
        yield document
    except pypdfium2.PdfiumError as error:
        raise _unreadable(name, error) from error
    finally:
        document.close()


def _unreadable(name: str, error: pypdfium2.PdfiumError) -> DamagedFile:
    if getattr(error, "err_code", None) == pdfium.FPDF_ERR_PASSWORD or "assword" in str(error):
        return DamagedFile(f"{name}: encrypted PDF; save it without a password")
    return DamagedFile(f"{name}: damaged PDF, it cannot be read ({error}); download the file again")


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
            texts.append(textpage.get_text_range().translate(MARKS))
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
            lines.extend(_visual_lines(page_runs(page), number))
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


def _visual_lines(runs: Sequence[Run], page: int) -> Iterator[Line]:
    """Runs whose baselines lie together, from the top; in a line from the left."""
    rows: list[list[Run]] = []
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
