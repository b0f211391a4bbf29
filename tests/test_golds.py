"""Golds: the rules that find them, files in and out, and what covers them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from outline_manuals import (
    icd_manuals,
    index_of,
    legal_manuals,
    library_of,
    small_icd_index,
    small_legal_index,
)

from eval.domains.icd.golds import IcdGolds
from eval.domains.legal.golds import LegalGolds
from eval.golds.coverage import Coverage
from eval.golds.gold import (
    Given,
    Gold,
    at_least,
    given_golds,
    merge,
    qrels_golds,
    qrels_of,
    read_given,
    read_golds,
    write_golds,
)
from eval.queries.case_files import read_years, with_years
from eval.queries.cases import read_cases
from eval.queries.trec import Qrel, write_qrels
from eval.queries.year_policy import choose_editions, choose_year
from manuals.model.units import is_apparatus, unit_key
from manuals.ussg.statute_index import StatuteIndex
from tam.errors import BadCases, BadOption

ICD = {"guidelines": 2025, "tabular": 2025, "index": 2025}
LEGAL = {"title18": 2025, "ussg": 2025}


def icd_golds(*codes: str) -> set[tuple[str, str, int]]:
    golds = IcdGolds(library_of(*icd_manuals())).golds("q", codes, ICD)
    assert {gold.origin for gold in golds} <= {"code"}
    return {(gold.source, gold.key, gold.grade) for gold in golds}


def test_a_code_gives_its_section_its_entries_and_the_guidelines_that_name_it() -> None:
    assert icd_golds("J441") == {
        ("tabular", "J44.1", 3),
        ("index", "Narrow > pipes > flaring", 2),
        ("index", "Wheeze", 2),
        ("guidelines", "I.C.10.a", 2),  # names the code
        ("guidelines", "I.C.10.b", 1),  # names its category
        ("guidelines", "I.C.10", 1),  # names a range that holds it
    }


def test_a_seventh_character_resolves_to_the_stem() -> None:
    found = icd_golds("S82.1XXA")
    assert ("tabular", "S82.1", 3) in found
    assert ("index", "Shin > upper", 2) in found
    assert ("index", "Shin", 1) in found  # gives the category, to be completed


def test_a_bare_category_that_is_a_code_is_named_and_a_vitamin_is_not() -> None:
    found = icd_golds("I10")
    assert ("guidelines", "I.C.9.a", 2) in found
    assert not any(key == "I.B.1" for _, key, _ in found)


def test_a_code_that_the_edition_lacks_stays_as_a_missing_gold() -> None:
    (gold,) = IcdGolds(library_of(*icd_manuals())).golds("q", ["F32.A"], ICD)
    assert (gold.source, gold.key, gold.year) == ("tabular", "F32.A", 2025)


def test_no_edition_of_a_source_gives_no_golds_of_it() -> None:
    golds = IcdGolds(library_of(*icd_manuals())).golds("q", ["J44.1"], {"tabular": 2025})
    assert [gold.source for gold in golds] == ["tabular"]
    assert IcdGolds(library_of(*icd_manuals())).golds("q", ["J44.1"], {}) == []


def legal(text: str) -> tuple[set[tuple[str, int, str]], tuple[str, ...], tuple[str, ...]]:
    found = LegalGolds(library_of(*legal_manuals())).golds("q", text, LEGAL)
    return {(g.key, g.grade, g.origin) for g in found.golds}, found.out_of_scope, found.unmapped


def test_a_cited_statute_gives_its_section_and_through_appendix_a_its_guideline() -> None:
    golds, outside, unmapped = legal("guilty under 18 U.S.C. § 922(g)(1)")
    assert golds == {("18 U.S.C. § 922", 3, "cited"), ("§2K2.1", 2, "mapped")}
    assert outside == unmapped == ()


def test_a_section_alone_takes_all_rows_below_it_at_a_lower_grade() -> None:
    golds, _, _ = legal("guilty under 18 U.S.C. § 922")
    assert golds == {
        ("18 U.S.C. § 922", 3, "cited"),
        ("§2K2.1", 1, "mapped"),
        ("§2K2.5", 1, "mapped"),
    }


def test_other_titles_are_out_of_scope_and_still_mapped() -> None:
    golds, outside, unmapped = legal("8 U.S.C. § 1326, again 8 U.S.C. § 1326, 21 U.S.C. § 841")
    assert golds == {("§2L1.2", 2, "mapped")}
    assert outside == ("8 U.S.C. § 1326", "21 U.S.C. § 841")
    assert unmapped == ("21 U.S.C. § 841",)


def test_a_cited_guideline_is_a_gold_itself() -> None:
    golds, _, _ = legal("two levels under USSG §2K2.1(b)(4)")
    assert golds == {("§2K2.1", 3, "cited")}


def test_laws_of_a_state_and_of_a_title_named_before_are_no_golds() -> None:
    cited, other = "18 U.S.C. § 922(g)(1)", "21 U.S.C. § 841(a)(1); id. § 846"
    golds, outside, unmapped = legal(
        f"{cited}; prior convictions of Cal. Penal Code § 924, N.Y. Penal Law § 220.39(1); {other}."
    )
    assert (golds, outside, unmapped) == legal(f"{cited} and {other}")
    assert {key for key, _, origin in golds if origin == "cited"} == {"18 U.S.C. § 922"}
    assert outside == ("21 U.S.C. § 841(a)(1)", "21 U.S.C. § 846")


def test_a_number_that_is_part_of_a_longer_one_is_not_cited() -> None:
    golds, _, _ = legal("18 U.S.C. § 9221 and 18 U.S.C. § 1922")
    assert not any(key == "18 U.S.C. § 922" for key, _, _ in golds)


@pytest.mark.parametrize(
    ("key", "subdivisions", "rows", "exact"),
    [
        ("18 U.S.C. § 922", ("g", "1"), ["922(a)–(p)"], True),
        ("18 U.S.C. § 922", ("q",), ["922(q)"], True),
        ("18 U.S.C. § 922", ("r",), [], False),
        ("18 U.S.C. § 922", (), ["922(a)–(p)", "922(q)"], False),
        ("18 U.S.C. § 924", ("c", "1", "A"), ["924(c)"], True),
        ("18 U.S.C. § 924", ("d",), [], False),
        ("18 U.S.C. § 92", (), [], False),
    ],
)
def test_rows_of_appendix_a(
    key: str, subdivisions: tuple[str, ...], rows: list[str], exact: bool
) -> None:
    found = StatuteIndex(legal_manuals()[2]).rows(key, subdivisions)
    assert [row.key.removeprefix("Appendix A > 18 U.S.C. § ") for row in found.rows] == rows
    assert found.exact is exact


def test_merge_keeps_the_highest_grade_and_the_first_origin() -> None:
    golds = [
        Gold("q", "ussg", 2025, "§2K2.1", 2, "mapped"),
        Gold("q", "ussg", 2025, "§2K2.1", 3, "cited"),
        Gold("q", "ussg", 2025, "§2K2.1", 3, "given"),
        Gold("r", "ussg", 2025, "§2K2.1", 1, "mapped"),
    ]
    assert [(g.query_id, g.grade, g.origin) for g in merge(golds)] == [
        ("q", 3, "given"),
        ("r", 1, "mapped"),
    ]
    assert at_least(golds, 3) == golds[1:3]


def test_side_file_and_qrels(tmp_path: Path) -> None:
    golds = [
        Gold("q 1", "title18", 2025, "18 U.S.C. § 922", 3, "cited", "18 U.S.C. § 922(g)"),
        Gold("q 1", "ussg", 2025, "§2K2.1", 2, "mapped"),
    ]
    write_golds(tmp_path / "golds.jsonl", golds)
    assert read_golds(tmp_path / "golds.jsonl") == golds
    assert qrels_of(golds)[0] == Qrel("q 1", "title18/2025/18 U.S.C. § 922", 3)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"source": "ussg", "year": 2025, "key": "§2K2.1"}, "query_id"),
        ({"query_id": "q", "source": "usg", "year": 2025, "key": "x"}, "'usg' is none of"),
        ({"query_id": "q", "source": "ussg", "year": "2025", "key": "x"}, "year"),
        ({"query_id": "q", "source": "ussg", "year": 2025, "key": ""}, "key"),
        ({"query_id": "q", "source": "ussg", "year": 2025, "key": "x", "grade": 0}, "grade"),
        ({"query_id": "q", "source": "ussg", "year": 2025, "key": "x", "origin": "?"}, "origin"),
    ],
)
def test_bad_side_files(tmp_path: Path, row: dict[str, object], reason: str) -> None:
    path = tmp_path / "golds.jsonl"
    path.write_text("\n" + json.dumps(row), encoding="utf-8")
    with pytest.raises(BadCases, match=reason) as caught:
        read_golds(path)
    assert str(caught.value).startswith(f"{path}:2:")


# -- given golds


def test_given_golds_in_the_editions_of_the_case() -> None:
    given = [
        Given("a", 2025, ("18 USC 922(g)(1)", "2K2.1(b)(4)", "§8Z9.9", "ussg/2016/§5H1.1"), 1),
        Given("b", 2021, ("18 U.S.C. § 924", "§3E1.1"), 2),
    ]
    editions = {"a": LEGAL, "b": {"title18": 2021}}
    golds = given_golds(given, editions, library_of(*legal_manuals()))
    assert [(g.query_id, g.section, g.note) for g in golds] == [
        ("a", "title18/2025/18 U.S.C. § 922(g)", "18 U.S.C. § 922(g)(1)"),
        ("a", "ussg/2025/§2K2.1(b)(4)", ""),
        ("a", "ussg/2025/§8Z9.9", ""),
        ("a", "ussg/2016/§5H1.1", ""),
        ("b", "title18/2021/18 U.S.C. § 924", ""),
        ("b", "ussg/2021/§3E1.1", ""),  # no edition of that year: kept, to be counted missing
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"year": 2025, "gold_sections": []}', "case_id"),
        ('{"case_id": "a", "year": "2025", "gold_sections": []}', "year"),
        ('{"case_id": "a", "gold_sections": "§2K2.1"}', "gold_sections"),
        ('{"case_id": "a", "gold_sections": ["§2K2.1", "§2K2.1"]}', "comes twice"),
        ('{"case_id": "a", "gold_sections": ["18 U.S.C. § "]}', "not a reference"),
        ('{"case_id": "ok", "gold_sections": []}', "line 1 already"),
    ],
)
def test_bad_given_files(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "given.jsonl"
    path.write_text(f'{{"case_id": "ok", "gold_sections": []}}\n{line}\n', encoding="utf-8")
    with pytest.raises(BadCases, match=reason) as caught:
        read_given(path)
    assert str(caught.value).startswith(f"{path}:2:")


def test_qrels_of_section_keys_and_of_chunk_ids(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    rows = [
        Qrel("q", "title18/2025/18 U.S.C. § 922", 2),
        Qrel("q", "ussg/2025/2K2.4~2", 1),
        Qrel("q", "ussg/2025/§3E1.1", 0),
    ]
    write_qrels(path, rows)
    keys = {"ussg/2025/2K2.4~2": ("ussg", 2025, "§2K2.4")}
    golds = qrels_golds(path, keys, library_of(*legal_manuals()))
    assert [(gold.section, gold.grade) for gold in golds] == [
        ("title18/2025/18 U.S.C. § 922", 2),
        ("ussg/2025/§2K2.4", 1),
    ]
    write_qrels(path, [Qrel("q", "elsewhere", 1)])
    with pytest.raises(BadCases, match="neither a section"):
        qrels_golds(path, keys, None)


# -- which edition


@pytest.mark.parametrize(
    ("policy", "year", "expected"),
    [
        ("exact", 2021, None),
        ("exact", 2025, 2025),
        ("nearest", 2021, 2023),
        ("nearest", 2024, 2023),  # of two equally near the earlier
        ("in-force", 2024, 2023),
        ("in-force", 2016, 2016),
        ("in-force", 2010, None),
        ("latest", 2021, 2025),
        ("latest", None, 2025),
        ("nearest", None, None),
        ("exact", None, None),
    ],
)
def test_year_policies(policy: str, year: int | None, expected: int | None) -> None:
    assert choose_year(policy, [2016, 2023, 2025], year) == expected


def test_editions_of_a_case() -> None:
    pairs = [("title18", 2021), ("title18", 2025), ("ussg", 2025)]
    assert choose_editions(pairs, 2021) == {"title18": 2021}
    assert choose_editions(pairs, 2021, "nearest") == {"title18": 2021, "ussg": 2025}
    assert choose_editions(pairs, 2025, "exact", ["ussg"]) == {"ussg": 2025}
    with pytest.raises(BadOption, match="year policy"):
        choose_year("newest", [2025], 2025)


# -- coverage


def covering(coverage: Coverage, source: str, key: str, year: int = 2025) -> list[str]:
    rows = coverage.rows(Gold("q", source, year, key))
    return [coverage.stored.chunks.ids[row].split("/")[-1] for row in rows]


def test_a_chunk_covers_a_section_by_a_part_of_it_but_not_by_its_notes(tmp_path: Path) -> None:
    coverage = Coverage(small_legal_index(tmp_path).stored)
    assert covering(coverage, "title18", "18 U.S.C. § 922") == [
        "18_U.S.C._§_922(g)",
        "18_U.S.C._§_922(h)",
    ]
    assert covering(coverage, "title18", "18 U.S.C. § 922(h)") == ["18_U.S.C._§_922(h)"]
    assert covering(coverage, "title18", "18 U.S.C. § 922 Notes") == ["18_U.S.C._§_922_Notes"]
    assert covering(coverage, "ussg", "§2K2.1") == ["§2K2.1(b)(4)", "§2K2.1_Application_Notes"]
    assert len(covering(coverage, "title18", "18 U.S.C. Chapter 44")) == 4


def test_a_chunk_of_a_category_covers_the_codes_in_it_and_no_other(tmp_path: Path) -> None:
    coverage = Coverage(small_icd_index(tmp_path).stored)
    assert covering(coverage, "tabular", "J44.1") == ["J44"]
    assert covering(coverage, "tabular", "J44") == ["J44"]
    assert covering(coverage, "tabular", "S82.1") == ["S82"]


def test_what_is_missing_is_told_apart(tmp_path: Path) -> None:
    coverage = Coverage(small_legal_index(tmp_path).stored)
    status = {
        key: coverage.status(Gold("q", source, year, key))
        for source, year, key in (
            ("title18", 2025, "18 U.S.C. § 924"),
            ("title18", 2024, "18 U.S.C. § 925"),
            ("title18", 2025, "18 U.S.C. § 999"),
            ("title18", 2025, "18 U.S.C. § 930"),
        )
    }
    assert list(status.values()) == ["indexed", "no edition", "no section", "no chunk"]


def test_shares_grow_to_one_and_leave_the_notes_out(tmp_path: Path) -> None:
    coverage = Coverage(small_legal_index(tmp_path).stored)
    gold = Gold("q", "title18", 2025, "18 U.S.C. § 922(g)")
    (row,) = coverage.rows(gold)
    # The chunk's body ends before the line end that closes the section.
    assert coverage.shares(gold, [row])[0] == pytest.approx(1, abs=0.02)
    whole = Gold("q", "title18", 2025, "18 U.S.C. § 922")
    rows = coverage.rows(whole)
    first, both = coverage.shares(whole, rows)
    assert 0 < first < both < 1  # the section's own lines are in no chunk here
    assert coverage.shares(whole, [rows[0], rows[0]]) == [first, first]
    manual = coverage.stored.library.manual("title18", 2025)
    covered = "".join(manual.text[start:end] for start, end in coverage.spans(whole))
    assert "amendment" not in covered
    assert "servant" in covered


def test_two_halves_of_a_section_cover_it_together(tmp_path: Path) -> None:
    _, title18, _ = legal_manuals()
    index = index_of(tmp_path, [(title18, ["18 U.S.C. § 924|2"])])
    coverage = Coverage(index.stored)
    gold = Gold("q", "title18", 2025, "18 U.S.C. § 924")
    half, whole = coverage.shares(gold, coverage.rows(gold))
    assert 0.4 < half < 0.6
    assert whole == 1


@pytest.mark.parametrize(
    ("source", "key", "unit"),
    [
        ("title18", "18 U.S.C. § 922(g)(1)", "18 U.S.C. § 922"),
        ("title18", "18 U.S.C. § 922", "18 U.S.C. § 922"),
        ("title18", "18 U.S.C. § 922(g)#2", "18 U.S.C. § 922#2"),
        ("title18", "18 U.S.C. § 922 Notes > Amendments", "18 U.S.C. § 922 Notes > Amendments"),
        ("title18", "18 U.S.C. Chapter 44", "18 U.S.C. Chapter 44"),
        ("ussg", "§2K2.1 Application Note 3", "§2K2.1"),
        ("ussg", "§2K2.1 Historical Note", "§2K2.1 Historical Note"),
        ("ussg", "Appendix A > 18 U.S.C. § 922(q)", "Appendix A > 18 U.S.C. § 922(q)"),
        ("tabular", "E11.22", "E11.22"),
        ("index", "Notes > x", "Notes > x"),
    ],
)
def test_the_section_that_a_chunk_counts_as(source: str, key: str, unit: str) -> None:
    assert unit_key(source, key) == unit


def test_apparatus() -> None:
    assert is_apparatus("title18", "18 U.S.C. § 922 Source Credit")
    assert is_apparatus("ussg", "§2K2.1 Historical Note#2")
    assert not is_apparatus("ussg", "§2K2.1 Application Notes")
    assert not is_apparatus("index", "Sick Notes")


@pytest.mark.real
def test_golds_of_the_real_cases(real_manuals: Path, real_cases: Path) -> None:
    from manuals.library.editions import open_manuals

    library = open_manuals(real_manuals)
    pairs = [(edition.source, edition.year) for edition in library.editions]
    _, cases = read_cases(real_cases / "legal_cases.csv")
    cases = with_years(cases, read_years(real_cases / "legal_years.csv"))
    editions = {
        case.case_id: choose_editions(pairs, case.year, sources=("title18", "ussg"))
        for case in cases
    }
    rule = LegalGolds(library)
    found = {
        case.case_id: rule.golds(case.case_id, case.text, editions[case.case_id]) for case in cases
    }
    assert {gold.section for gold in found["9000001"].golds} == {
        "title18/2025/18 U.S.C. § 922",
        "ussg/2025/§2K2.1",
    }
    # 2021 has no Guidelines Manual here: Title 18 only, and not another year's.
    assert [gold.section for gold in found["9000003"].golds] == ["title18/2021/18 U.S.C. § 1028A"]
    assert found["9000004"].out_of_scope == ("8 U.S.C. § 1326",)
    assert [gold.key for gold in found["9000004"].golds] == ["§2L1.2"]
    given = given_golds(read_given(real_cases / "legal_gold.jsonl"), editions, library)
    missing = {
        gold.section
        for gold in given
        if (gold.source, gold.year) not in pairs
        or gold.key not in library.manual(gold.source, gold.year).by_key
    }
    assert missing
    assert all(name.startswith("ussg/2021/") for name in missing)
