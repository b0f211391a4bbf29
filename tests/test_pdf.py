"""PDF lines with fonts and places, joined words, and files that cannot be read."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.lib.pagesizes import letter
from reportlab.pdfgen.canvas import Canvas
from small_files import pdf

from manuals.pdf.lines import (
    HYPHEN,
    Hyphens,
    Line,
    columns,
    join_lines,
    page_count,
    page_texts,
    read_lines,
    split_line,
)
from tam.errors import DamagedFile

Placed = tuple[float, float, str, float, str]  # x, y from the top, font, size, text


def draw(path: Path, *pages: list[Placed]) -> Path:
    canvas = Canvas(str(path), pagesize=letter, invariant=1)
    for page in pages:
        for x, y, font, size, text in page:
            canvas.setFont(font, size)
            canvas.drawString(x, letter[1] - y, text)
        canvas.showPage()
    canvas.save()
    return path


def test_lines_come_with_fonts_and_places(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf",
        [
            (72.0, 300.0, "Times-Roman", 10.0, "Below the heading stands the text."),
            (72.0, 100.0, "Helvetica-Bold", 14.0, "Heading"),
            (72.0, 320.0, "Times-Italic", 8.0, "small and slanted"),
        ],
        [(100.0, 50.0, "Times-BoldItalic", 12.0, "next page")],
    )
    lines = read_lines(path)
    shown = [(x.page, x.text, x.font, x.size, x.bold, x.italic, x.x0, x.y1) for x in lines]
    assert [(*row[:6], round(row[6]), round(row[7])) for row in shown] == [
        (1, "Heading", "Helvetica-Bold", 14.0, True, False, 73, 100),
        (1, "Below the heading stands the text.", "Times-Roman", 10.0, False, False, 72, 300),
        (1, "small and slanted", "Times-Italic", 8.0, False, True, 72, 320),
        (2, "next page", "Times-BoldItalic", 12.0, True, True, 100, 50),
    ]
    assert lines[0].y0 == lines[0].y1 - 14.0
    assert page_count(path) == 2
    assert [line.page for line in read_lines(path, [2])] == [2]


def test_runs_of_a_line_keep_their_style_and_place(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf",
        [
            (300.0, 100.0, "Times-Roman", 10.0, "right cell"),
            (72.0, 100.0, "Times-Bold", 10.0, "Bold."),
            (99.0, 100.0, "Times-Roman", 10.0, " Then plain."),
            (150.0, 96.5, "Times-Roman", 6.0, "2"),
        ],
    )
    (line,) = read_lines(path)
    assert line.text == "Bold. Then plain. 2 right cell"
    assert [(run.text.strip(), run.bold) for run in line.fragments] == [
        ("Bold.", True),
        ("Then plain.", False),
        ("2", False),
        ("right cell", False),
    ]
    left, right = split_line(line, 250.0)
    assert left is not None
    assert right is not None
    assert (left.text, right.text) == ("Bold. Then plain. 2", "right cell")
    assert split_line(line, 20.0) == (None, line)
    assert split_line(line, 600.0) == (line, None)


def test_a_row_drawn_as_one_object_is_cut_at_its_gaps(tmp_path: Path) -> None:
    """The tables of older editions position their cells inside one text object."""
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=letter, invariant=1)
    text = canvas.beginText(72.0, 500.0)
    text.setFont("Times-Roman", 10.0)
    text.setWordSpace(60.0)
    text.textOut("Heroin add Level")
    canvas.drawText(text)
    canvas.drawString(72.0, 400.0, "Other text, so that the page is not all table.")
    canvas.save()
    line = read_lines(tmp_path / "a.pdf")[0]
    assert [run.text.strip() for run in line.fragments] == ["Heroin", "add", "Level"]
    assert line.text == "Heroin add Level"


def test_text_in_form_objects_is_placed_by_their_matrix(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=letter, invariant=1)
    canvas.beginForm("stamp")
    canvas.setFont("Times-Roman", 5.0)
    canvas.drawString(10.0, 10.0, "inside a form")
    canvas.endForm()
    canvas.saveState()
    canvas.translate(100.0, 200.0)
    canvas.scale(2.0, 2.0)
    canvas.doForm("stamp")
    canvas.restoreState()
    canvas.save()
    (line,) = read_lines(tmp_path / "a.pdf")
    assert line.text == "inside a form"
    assert (round(line.x0), round(line.y1), line.size) == (120, 792 - 220, 10.0)


def test_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    rows = [("a1", "b1"), ("a2", "b2")]
    path = draw(
        tmp_path / "a.pdf",
        [
            (
                72.0,
                80.0,
                "Times-Roman",
                10.0,
                "A line that stands over both of the two columns here",
            ),
            *[(72.0, 100.0 + 12 * n, "Times-Roman", 10.0, a) for n, (a, _) in enumerate(rows)],
            *[(250.0, 104.0 + 12 * n, "Times-Roman", 10.0, b) for n, (_, b) in enumerate(rows)],
            (
                72.0,
                150.0,
                "Times-Roman",
                10.0,
                "And another one that stands over both of the columns",
            ),
        ],
    )
    texts = [line.text for line in columns(read_lines(path), 200.0)]
    assert texts[1:-1] == ["a1", "a2", "b1", "b2"]
    assert texts[0].startswith("A line")
    assert texts[-1].startswith("And another")


def test_a_broken_word_is_marked_and_joined(tmp_path: Path) -> None:
    path = draw(
        tmp_path / "a.pdf",
        [
            (72.0, 100.0, "Times-Roman", 10.0, "The court weighs the bur-"),
            (72.0, 112.0, "Times-Roman", 10.0, "glary and a mass-"),
            (
                72.0,
                124.0,
                "Times-Roman",
                10.0,
                "marketing fraud. Elsewhere mass-marketing stands whole.",
            ),
        ],
    )
    texts = [line.text for line in read_lines(path)]
    assert texts[0].endswith(f"bur{HYPHEN}")
    assert HYPHEN in page_texts(path)[0]
    hyphens = Hyphens(text.replace(HYPHEN, " ") for text in texts)
    assert join_lines(texts, hyphens) == (
        "The court weighs the burglary and a mass-marketing fraud. "
        "Elsewhere mass-marketing stands whole."
    )


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        ([f"pro{HYPHEN}", "gram"], "program"),
        ([f"one{HYPHEN}", "half of it"], "one-half of it"),
        (["a self-", "made man"], "a self-made man"),
        (["level 3 -", "none"], "level 3 - none"),
        (["one", "two"], "one two"),
        ([f"in{HYPHEN}side one line", "x"], "inside one line x"),
        ([f"the end{HYPHEN}"], "the end"),
        ([], ""),
    ],
)
def test_join_lines(texts: list[str], joined: str) -> None:
    assert join_lines(texts, Hyphens(["one-half, one-half and a program"])) == joined


@given(st.lists(st.text("abc xyz", min_size=1).map(str.strip).filter(bool), max_size=6))
def test_joining_keeps_every_letter(texts: list[str]) -> None:
    broken = [text + HYPHEN for text in texts]
    assert Counter(join_lines(broken)) == Counter("".join(texts)) or texts == []
    assert join_lines(texts).split() == " ".join(texts).split()


def scanned() -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=letter)
    for _ in range(3):
        canvas.rect(100, 100, 200, 200, fill=1)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"<!DOCTYPE html><html><body>404</body></html>", "web page.*download"),
        (b"\n<html>Access denied</html>", "web page.*download"),
        (b"PK\x03\x04 something else", "not a PDF.*download"),
        (b"", "not a PDF"),
        (pdf("some words on a page")[:-600], "truncated.*download"),
        (b"%PDF-1.7\nnothing of use\n%%EOF\n", "damaged PDF.*download"),
        (pdf("some words on a page", password="secret"), "encrypted.*without a password"),
        (scanned(), "without text.*scanned"),
    ],
)
def test_unreadable_files(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "GLMFull.pdf"
    path.write_bytes(data)
    for read in (read_lines, page_texts):
        with pytest.raises(DamagedFile) as error:
            read(path)
        assert re.search(says, str(error.value))
        assert "GLMFull.pdf" in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.real
@pytest.mark.parametrize("year", [2016, 2025])
def test_lines_hold_the_words_of_the_plain_text(real_manuals: Path, year: int) -> None:
    """Page for page the same words as PDFium's own text, but for words beside a margin label."""
    path = real_manuals / "ussg" / str(year) / "GLMFull.pdf"
    pages = range(60, 260)
    plain = [
        Counter(re.findall(r"\w+", text.replace(HYPHEN, ""))) for text in page_texts(path, pages)
    ]
    lines: dict[int, list[Line]] = {}
    for line in read_lines(path, pages):
        lines.setdefault(line.page, []).append(line)
    differing = total = 0
    for page, words in zip(pages, plain, strict=True):
        joined = "".join(
            line.text[:-1] if line.text.endswith(HYPHEN) else line.text + "\n"
            for line in lines[page]
        )
        mine = Counter(re.findall(r"\w+", joined.replace(HYPHEN, "")))
        differing += sum(((mine - words) + (words - mine)).values())
        total += sum(words.values())
    assert total > 50_000
    # Here "amend-" / "Historical" / "ment" lie on three baselines.
    assert differing < 0.01 * total
