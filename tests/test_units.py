"""Search by units, people's words, and whole cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexers.legs.ranking import RankedRows
from manuals.apply.names import unit_of
from manuals.icd10cm.apply.notes import read_note
from retrievers.case.statements import statements
from retrievers.ranking.units import EVIDENCE, SECOND, UnitRows, of_rows, of_units, unit_scores
from retrievers.ranking.vocabulary import expanded
from retrievers.search.index import Index, open_index
from tam.errors import BadOption


@pytest.fixture(scope="module")
def legal(sample_legal_index: Path) -> Index:
    return open_index(sample_legal_index)


@pytest.mark.parametrize(
    ("source", "key", "unit"),
    [
        ("tabular", "E11.22", "E11"),
        ("tabular", "E11", "E11"),
        ("tabular", "E08-E13", "E08-E13"),
        ("tabular", "Chapter 4", "Chapter 4"),
        ("title18", "18 U.S.C. § 922(g)(1)", "18 U.S.C. § 922"),
        ("title18", "18 U.S.C. § 4051(a)#2", "18 U.S.C. § 4051"),
        ("ussg", "§2K2.1(b)(4)", "§2K2.1"),
        ("ussg", "§2K2.1 Application Note 3", "§2K2.1"),
        ("guidelines", "I.C.2.e", "I.C.2.e"),
    ],
)
def test_the_unit_of_a_key(source: str, key: str, unit: str) -> None:
    assert unit_of(source, key) == unit


def _units(unit: list[int], ties: list[tuple[int, int]]) -> UnitRows:
    numbers = np.asarray(unit, np.int64)
    count = max(unit) + 1
    zeros = np.zeros(count, np.int64)
    return UnitRows(
        np.arange(len(unit)),
        numbers,
        tuple(f"U{n}" for n in range(count)),
        zeros,
        zeros,
        np.asarray(ties, np.int64).reshape(-1, 2),
    )


def test_a_unit_scores_by_its_best_part_and_a_share_of_the_next() -> None:
    units = _units([0, 0, 1], [])
    rows = np.asarray([3.0, 2.0, 3.2])
    scores = unit_scores(units, [(1.0, rows)], [])
    expected = np.asarray([3.0 + SECOND * 2.0, 3.2])
    expected = (expected - expected.mean()) / expected.std()
    assert scores.units == pytest.approx(expected)
    assert scores.rows == pytest.approx(rows)


def test_tied_units_lend_each_other_evidence() -> None:
    plain = unit_scores(_units([0, 1, 2], []), [(1.0, np.asarray([5.0, 0.0, 0.0]))], [])
    tied = unit_scores(_units([0, 1, 2], [(0, 1)]), [(1.0, np.asarray([5.0, 0.0, 0.0]))], [])
    assert tied.units[1] == pytest.approx(plain.units[1] + EVIDENCE * plain.units[0])
    assert tied.units[2] == pytest.approx(plain.units[2])


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=12), st.randoms())
def test_standardised_scores_do_not_depend_on_scale(values: list[float], random: object) -> None:
    units = _units(list(range(len(values))), [])
    rows = np.arange(len(values))
    order = np.argsort(-np.asarray(values), kind="stable")
    found = RankedRows(rows[order], np.asarray(values, np.float32)[order])
    doubled = RankedRows(found.rows, found.scores * np.float32(4) + np.float32(0))
    assert of_rows(found, units) == pytest.approx(of_rows(doubled, units), abs=1e-3)
    assert of_units(found, units) == pytest.approx(of_rows(found, units))


def test_a_search_by_units_gives_each_section_once(legal: Index) -> None:
    hits = legal.search("firearm serial number", k=20, year=2024, group="unit")
    units = [(hit.source, unit_of(hit.source, hit.section_keys[0])) for hit in hits]
    assert len(units) == len(set(units)) > 3


def test_the_first_places_do_not_change_with_k(legal: Index) -> None:
    few = legal.search("gun in a drug crime", k=3, year=2024, group="unit")
    many = legal.search("gun in a drug crime", k=12, year=2024, group="unit")
    assert [hit.chunk_id for hit in few] == [hit.chunk_id for hit in many[:3]]


def test_a_filter_holds_where_other_sources_give_evidence(legal: Index) -> None:
    hits = legal.search("bank fraud", k=50, year=2024, source="ussg", group="unit")
    assert {(hit.source, hit.year) for hit in hits} == {("ussg", 2024)}


def test_a_unit_that_is_named_comes_once_and_first(legal: Index) -> None:
    hits = legal.search("§2K2.1 felon with a gun", k=8, year=2024, group="unit")
    assert unit_of("ussg", hits[0].section_keys[0]) == "§2K2.1"
    assert hits[0].found_by == "reference"
    others = [unit_of(hit.source, hit.section_keys[0]) for hit in hits[1:]]
    assert "§2K2.1" not in others


def test_the_index_leads_to_codes_and_is_no_hit_beside_them(sample_icd_index: Path) -> None:
    icd = open_index(sample_icd_index)
    hits = icd.search("kidney disease", k=10, year=2025, group="unit")
    assert {hit.source for hit in hits} <= {"tabular", "guidelines"}
    asked = icd.search("kidney disease", k=5, year=2025, source="index", group="unit")
    assert {hit.source for hit in asked} == {"index"}


@pytest.mark.parametrize(
    ("text", "source", "added"),
    [
        ("MI last week", "tabular", "myocardial infarction"),
        ("mi casa", "tabular", None),
        ("has high blood pressure", "tabular", "hypertension"),
        ("he had a gun", "ussg", "firearm"),
        ("nothing of the kind", "ussg", None),
    ],
)
def test_people_s_words(text: str, source: str, added: str | None) -> None:
    found = expanded(text, [source])
    assert found.startswith(text)
    assert (added in found) if added else found == text


def test_statements_are_stretches_of_the_case() -> None:
    case = "- He pleaded guilty.\n- Two guns were found. One was stolen.\n\n3) He ran."
    found = statements(case)
    assert [each.text for each in found] == [
        "He pleaded guilty.",
        "Two guns were found.",
        "One was stolen.",
        "He ran.",
    ]
    assert all(case[each.start : each.end] == each.text for each in found)


def test_a_note_leaves_out_what_is_denied_and_the_family() -> None:
    note = (
        "HISTORY OF PRESENT ILLNESS\n\nCough for three days. No fever, chills, or chest pain.\n\n"
        "FAMILY HISTORY\n\nFather had a stroke.\n\nASSESSMENT AND PLAN\n\n1. Pneumonia.\n"
        "- Medical Treatment: Antibiotics.\n"
    )
    found = read_note(note)
    assert [each.text for each in found if each.problem] == ["Pneumonia"]
    texts = " ".join(each.text for each in found)
    assert "Cough" in texts
    for denied in ("fever", "chills", "chest pain", "stroke"):
        assert denied not in texts


def test_a_case_is_searched_step_by_step(legal: Index) -> None:
    case = (
        "- Defendant A pleaded guilty to 18 U.S.C. § 922(g)(1).\n"
        "- The serial number of the pistol was ground off.\n- He has two earlier convictions.\n"
    )
    found = legal.search_case(case, year=2024, sections=12)
    assert 0 < len(found.hits) <= 12
    cited = [hit for step in found.steps if step.source == "title18" for hit in step.hits]
    assert unit_of("title18", cited[0].section_keys[0]) == "18 U.S.C. § 922"
    guidelines = {
        unit_of("ussg", hit.section_keys[0])
        for step in found.steps
        if step.source == "ussg"
        for hit in step.hits
    }
    assert "§2K2.1" in guidelines  # by its row of Appendix A
    assert found.to_json()["tokens"] == found.tokens


@pytest.mark.parametrize("tokens", [200, 1000, 4000])
def test_a_case_keeps_its_budget(legal: Index, tokens: int) -> None:
    case = "- He robbed a bank with a gun.\n- He pleaded guilty.\n"
    assert legal.search_case(case, year=2024, tokens=tokens).tokens <= tokens


def test_a_case_without_words_or_room_is_refused(legal: Index) -> None:
    with pytest.raises(BadOption, match="empty"):
        legal.search_case("   ", year=2024)
    with pytest.raises(BadOption, match="sections 0"):
        legal.search_case("a case", year=2024, sections=0)
