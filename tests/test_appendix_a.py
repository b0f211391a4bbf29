"""The cells of Appendix A: statutes with conditions, guidelines with theirs."""

from __future__ import annotations

import pytest

from manuals.pdf.lines import Fragment, Line
from manuals.ussg.appendix_a import guideline_refs, split_condition, statute_rows


@pytest.mark.parametrize(
    ("cell", "statute", "condition"),
    [
        ("18 U.S.C. § 924(c)", "18 U.S.C. § 924(c)", ""),
        ("18 U.S.C.  §924 (c) (1)", "18 U.S.C. § 924(c)(1)", ""),
        ("7 U.S.C. § 2156 (felony provisions only)", "7 U.S.C. § 2156", "felony provisions only"),
        ("18 U.S.C. § 922(a)–(p)", "18 U.S.C. § 922(a)–(p)", ""),
        ("18 U.S.C. § 793(d), (e)", "18 U.S.C. § 793(d),(e)", ""),
        ("16 U.S.C. § 470aaa–5", "16 U.S.C. § 470aaa-5", ""),
        ("21 U.S.C. § 134a–e", "21 U.S.C. § 134a–e", ""),
        ("49 U.S.C. App. § 1687(g)", "49 U.S.C. App. § 1687(g)", ""),
        (
            "31 U.S.C. § 5311 note (section 9 of an act)",
            "31 U.S.C. § 5311 note",
            "section 9 of an act",
        ),
    ],
)
def test_statute_cell(cell: str, statute: str, condition: str) -> None:
    found, said = split_condition(cell)
    assert (found.replace(", (", ",("), said) == (statute, condition)


@pytest.mark.parametrize(
    ("cell", "condition", "refs"),
    [
        ("2K2.1", "", [("§2K2.1", "")]),
        ("2A1.1, 2A1.2,2B1.1", "", [("§2A1.1", ""), ("§2A1.2", ""), ("§2B1.1", "")]),
        (
            "2A1.5, 2C1.1 (if it was (or became) a bribe under § 201(b)), 2X1.1",
            "",
            [
                ("§2A1.5", ""),
                ("§2C1.1", "if it was (or became) a bribe under § 201(b)"),
                ("§2X1.1", ""),
            ],
        ),
        ("2K2.4 (2K1.4 for old acts)", "", [("§2K2.4", ""), ("§2K1.4", "for old acts")]),
        ("2K2.1 (see also 4B1.4)", "", [("§2K2.1", "see also 4B1.4")]),
        (
            "2E3.1, 2X1.1 (if x)",
            "felony only",
            [("§2E3.1", "felony only"), ("§2X1.1", "felony only; if x")],
        ),
        ("J1.1, 2J1.5", "", [("§2J1.5", "")]),
        ("2D1.10", "", [("§2D1.10", "")]),
        ("", "", []),
    ],
)
def test_guideline_cell(cell: str, condition: str, refs: list[tuple[str, str]]) -> None:
    found = guideline_refs(cell, condition)
    assert [(ref.target, ref.condition) for ref in found] == refs
    assert {ref.kind for ref in found} <= {"guideline"}


def line(page: int, y: float, *cells: tuple[float, str]) -> Line:
    runs = tuple(
        Fragment(text, "Times", 10.0, False, False, x, x + 5.0 * len(text)) for x, text in cells
    )
    text = " ".join(text for _, text in cells)
    return Line(text, page, runs[0].x0, runs[-1].x1, y - 10, y, 10.0, "Times", False, False, runs)


def test_rows_go_down_the_columns_and_over_pages() -> None:
    lines = [
        line(1, 100, (73, "18 U.S.C. § 1"), (190, "2A1.1"), (320, "18 U.S.C. § 4"), (437, "2X4.1")),
        line(1, 124, (73, "18 U.S.C. § 2"), (190, "2X2.1 (if the"), (320, "18 U.S.C. §")),
        line(1, 136, (190, "plan was made)"), (326, "1375a(d)(5)"), (437, "2H3.1")),
        line(
            1, 160, (73, "18 U.S.C. § 3"), (190, "2X3.1,"), (320, "18 U.S.C. § 5"), (437, "2B1.1,")
        ),
        line(1, 172, (190, "2X5.1")),
        line(2, 100, (190, "2B1.5"), (320, "18 U.S.C. § 7"), (437, "2A2.2")),
        line(2, 124, (73, "18 U.S.C. § 6"), (190, "2A2.1")),
    ]
    rows = [(row.cell(False), row.cell(True).strip()) for row in statute_rows(lines)]
    assert rows == [
        ("18 U.S.C. § 1", "2A1.1"),
        ("18 U.S.C. § 2", "2X2.1 (if the plan was made)"),
        ("18 U.S.C. § 3", "2X3.1, 2X5.1"),
        ("18 U.S.C. § 4", "2X4.1"),
        ("18 U.S.C. § 1375a(d)(5)", "2H3.1"),
        ("18 U.S.C. § 5", "2B1.1, 2B1.5"),
        ("18 U.S.C. § 6", "2A2.1"),
        ("18 U.S.C. § 7", "2A2.2"),
    ]


def test_a_row_in_one_run_is_cut_before_its_guideline() -> None:
    lines = [
        line(1, 100, (73, "18 U.S.C. § 1"), (190, "2A1.1"), (320, "18 U.S.C. § 3"), (437, "2B1.1"))
    ]
    whole = line(1, 124, (73, "15 U.S.C. § 78jjj(c)(1),(2) 2B1.1"))
    rows = [(row.cell(False), row.cell(True)) for row in statute_rows([*lines, whole])]
    assert rows[1] == ("15 U.S.C. § 78jjj(c)(1),(2)", "2B1.1")


def test_no_lines_no_rows() -> None:
    assert statute_rows([]) == []
