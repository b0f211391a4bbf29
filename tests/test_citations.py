"""The labelled list of citations, and which law a section without a title is of."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter

import pytest

from benchmarks.citations import our_reader, read_list, score
from manuals.model.keys import find_references, parse_reference
from manuals.model.reference import Reference

ROWS = read_list()


def keys(text: str) -> list[str]:
    return [each.full_key for each in find_references(text, typed=True)]


def test_the_list_is_large_and_halved() -> None:
    assert len(ROWS) >= 320
    halves = Counter(row.split for row in ROWS)
    assert abs(halves["dev"] - halves["held"]) <= len({row.kind for row in ROWS})
    assert len({row.text for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("split", ["dev", "held"])
def test_no_false_title_18_and_hardly_a_true_one_missed(split: str) -> None:
    rows = [row for row in ROWS if row.split == split]
    assert [
        (row.text, sorted(false))
        for row in rows
        if (
            false := {each.key for each in our_reader(row.text) if each.key.startswith("18 U.S.C.")}
            - {each.key for each in row.expected}
        )
    ] == []
    whole = score(rows, our_reader)
    assert whole.precision >= 0.99
    assert whole.recall >= 0.98
    assert score(rows, our_reader, deep=True).recall >= 0.97


U = "18 U.S.C. § "


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # the law that is named before
        ("Cal. Penal Code § 211 robbery prior conviction", []),
        ("N.Y. Penal Law § 220.39(1)", []),
        ("21 U.S.C. § 841(a)(1); id. § 846", ["21 U.S.C. § 841(a)(1)", "21 U.S.C. § 846"]),
        ("Title 21, Section 846", ["21 U.S.C. § 846"]),
        ("21, United States Code, Section 841(a)(1)", ["21 U.S.C. § 841(a)(1)"]),
        ("50 App. U.S.C. § 462", ["50 U.S.C. App. § 462"]),
        ("8 CFR § 214.2 and Section 8 voucher and Section 1983", []),
        ("§ 924(c) and Cal. Penal Code § 245. The § 245 count", [U + "924(c)"]),
        # a section that was cited with its title keeps it
        ("18 U.S.C. § 371. 21 U.S.C. § 846. As to § 371", [U + "371", "21 U.S.C. § 846", U + "371"]),
        # lists and ranges
        ("18 U.S.C. § 1343 & 2", [U + "1343", U + "2"]),
        ("18 USC 1341 and 1343", [U + "1341", U + "1343"]),
        ("21 USC 841 and 846", ["21 U.S.C. § 841", "21 U.S.C. § 846"]),
        ("15 U.S.C. §§ 78j-78l", ["15 U.S.C. § 78j", "15 U.S.C. § 78l"]),
        ("42 U.S.C. §§ 2000a-2000h", ["42 U.S.C. § 2000a", "42 U.S.C. § 2000h"]),
        ("50 U.S.C. §§ 1701-06", ["50 U.S.C. § 1701", "50 U.S.C. § 1706"]),
        (
            "§2B1.1, comment. (nn.3-6)",
            [f"§2B1.1 Application Note {number}" for number in (3, 4, 5, 6)],
        ),
        # full width letters, and characters without a width
        ("924（c）", [U + "924(c)"]),
        ("Ｅ１１．２２", ["E11.22"]),
        ("18\u200bU.S.C.\u200b§\u200b924(c)", [U + "924(c)"]),
    ],
)  # fmt: skip
def test_reads(text: str, found: list[str]) -> None:
    assert keys(text) == found
    end = 0
    for each in find_references(text, typed=True):
        assert text[slice(*each.span)] == each.text
        assert end <= each.span[0]
        end = each.span[1]


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("section 922(g)(1) of title 18", U + "922(g)(1)"),
        ("18 U.S.C. § 922(g) et seq.", U + "922(g)"),
        ("section 846 of title 21", "21 U.S.C. § 846"),
        ("Title 21, Section 846", "21 U.S.C. § 846"),
        ("924（c）", U + "924(c)"),
    ],
)
def test_opens_what_the_search_reads(typed: str, key: str) -> None:
    assert parse_reference(typed).full_key == key
    assert keys(typed) == [key]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("50 U.S.C. 1701", ["50 U.S.C. § 1701"]),
        ("42 U.S.C. § 5195c(b) note", ["42 U.S.C. § 5195c(b) Notes"]),
        ("See 42 U.S.C. § 1983. Id. § 394.", ["42 U.S.C. § 1983", "42 U.S.C. § 394"]),
        ("42 U.S.C.285t–2(a)", ["42 U.S.C. § 285t-2(a)"]),
        ("42 U.S.C. §1983and the equal protection clause", ["42 U.S.C. § 1983"]),
        ("§550 U.S. 544", []),
        ("pursuant to 5 use 552(a)(1)(E) and", []),
        ("§§ 1-206.01, 1-206.02, 1-206.03, and 1-206.04", []),
        ("26 CFR § 1.1031(a)-1 and 17 CFR § 240.10b-5", []),
        ("Affordable Care Act, Pub. L. No. 111-148, § 1101, 124 Stat. 119, 141-43 (2010)", []),
        (
            "12 U. S. C. § 1 et seq. See §§ 24, 93a. See § 484(a); 12 CFR § 7.4000 (2006).",
            [f"12 U.S.C. § {number}" for number in ("1", "24", "93a", "484(a)")],
        ),
        ("45 U.S.C. 10a(1)-10c(2)", ["45 U.S.C. § 10a(1)", "45 U.S.C. § 10c(2)"]),
        ("The sum of 27 and 42 is a number between 68 and 70.", []),
        ("18 U.S.C. Â§ 924(c)", [U + "924(c)"]),
        ("C91.Z0 C4A.8 D47.Z2, HCPCS J3301", ["C91.Z0", "C4A.8", "D47.Z2"]),
    ],
)
def test_texts_of_the_kinds_that_citation_readers_fail_on(text: str, found: list[str]) -> None:
    assert keys(text) == found


UNITS = (
    "Cal. Penal Code § 211, ",
    "§ 1983 ",
    "id. § 846; ",
    "21 U.S.C. § 841(a)(1) and § 846. ",
    "Title 21, ",
    "A.B.C. ",
    "of the Act ",
    "(nn.3-5), §2K2.1, comment. ",
    "Sarbanes-Oxley-",
    "18 U.S.C. §§ 1341 and ",
    "922(g)(1)/",
)


def seconds(unit: str, length: int) -> float:
    text = "21 U.S.C. § 841 " + unit * (length // len(unit))
    start = time.process_time()
    find_references(text, typed=True)
    return time.process_time() - start


@pytest.mark.parametrize("unit", UNITS)
def test_long_texts_take_linear_time(unit: str) -> None:
    """Ten times the text, at most some thirty times the time (ten, and noise)."""
    assert seconds(unit, 100_000) < 30 * seconds(unit, 10_000) + 0.5


def test_a_megabyte_takes_seconds() -> None:
    paragraph = (
        "On the second count the defendant was charged under 18 U.S.C. § 1343 and § 1349 with a "
        "scheme that ran for two years. He has prior convictions in state court for theft, Cal. "
        "Penal Code § 487(a), and for a drug offense, id. § 11378; see USSG §4A1.1(a). The victims "
        "were paid back in part, and the rest of the money was sent abroad.\n\n"
    )
    assert seconds(paragraph, 1_000_000) < 20


def test_a_range_holds_what_stands_between_its_ends() -> None:
    first, _ = find_references("18 U.S.C. §§ 2241-2244")
    others = [U + "2241", U + "2242", U + "2243(a)", U + "2244", "21 U.S.C. § 2242"]
    assert first.inside(others) == [U + "2242", U + "2243(a)"]
    assert Reference("statute", U + "924").inside(others) == []


def test_a_statute_of_another_title_has_its_place_in_appendix_a() -> None:
    other, own = find_references("21 U.S.C. § 841 and 18 U.S.C. § 2")
    assert (other.sources, own.sources) == (("ussg",), ("title18",))
    assert other.only_in_appendix
    assert not own.only_in_appendix


def test_reading_imports_no_citation_library() -> None:
    code = (
        "import sys; from manuals.model.keys import find_references; find_references('§ 1');"
        "print([m for m in sys.modules if m.split('.')[0] in ('eyecite', 'reporters_db')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_is_canonical() -> None:
    """Each labelled key reads as itself."""
    for row in ROWS:
        for each in row.expected:
            assert parse_reference(each.key).key == each.key
