"""Known-item query sets: rules, samples, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from outline_manuals import Entry, icd_manuals, legal_manuals, library_of, outline

from eval.golds.gold import Gold
from eval.queries.known_items.sets import is_copy, known_item_sets, make_queries, normalised
from eval.queries.query_sets import Query, QuerySet, SetInfo, read_query_set, write_query_set
from eval.queries.trec import read_qrels
from tam.errors import BadCases, BadOption, UnknownYear

LIBRARY = library_of(*icd_manuals(), *legal_manuals())


def pairs(query_set: QuerySet) -> dict[str, set[str]]:
    """Text -> keys of its golds."""
    texts = {query.query_id: query.text for query in query_set.queries}
    found: dict[str, set[str]] = {}
    for gold in query_set.golds:
        found.setdefault(texts[gold.query_id], set()).add(gold.key)
    return found


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "index-to-tabular",
            {
                "Narrow > pipes > flaring": {"J44.1"},
                "Narrow > pipes": {"J44.9"},
                "Shin": {"S82"},
                "Shin > upper": {"S82.1"},
                "Wheeze": {"J44.1"},
            },
        ),
        ("inclusion-term-to-code", {"Flaring pipes": {"J44.1"}}),
        (
            "title18-heading",
            {
                "Unlawful acts": {"18 U.S.C. § 922"},
                "Penalties": {"18 U.S.C. § 924"},
                "Relief from disabilities": {"18 U.S.C. § 925"},
            },
        ),
        (
            "title18-printed-heading",
            {
                "§ 922. Unlawful acts": {"18 U.S.C. § 922"},
                "§ 924. Penalties": {"18 U.S.C. § 924"},
                "§ 925. Relief from disabilities": {"18 U.S.C. § 925"},
            },
        ),
        (
            "appendix-a-to-guideline",
            {
                "Unlawful acts": {"§2K2.1"},
                "Penalties": {"§2K2.4"},
                "Relief from disabilities": {"§3E1.1"},
            },
        ),
        (
            "guideline-heading",
            {
                "Unlawful possession of rifles": {"§2K2.1"},
                "Use of rifles": {"§2K2.4"},
                "Acceptance": {"§3E1.1"},
            },
        ),
        (
            "coding-guideline-heading",
            {
                "Pressure": {"I.C.9.a"},
                "Flares": {"I.C.10.a"},
                "Pipes": {"I.C.10.b"},
                "Vitamins": {"I.B.1"},
            },
        ),
    ],
)
def test_rules(name: str, expected: dict[str, set[str]]) -> None:
    query_set = make_queries(name, LIBRARY, [2025])
    assert pairs(query_set) == expected
    kind = known_item_sets()[name]
    assert query_set.info.repeats_gold_text is kind.repeats_gold_text
    assert {gold.source for gold in query_set.golds} == {kind.needs[0]}
    assert {query.source for query in query_set.queries} == {kind.needs[0]}


def test_what_is_left_out_is_counted() -> None:
    info = make_queries("index-to-tabular", LIBRARY, [2025]).info
    # "High pressure" is word for word the title of I10; "Nowhere" gives a code that is not there.
    assert dict(info.dropped) == {"copy": 1, "no gold": 1}
    assert info.population == 5
    assert dict(make_queries("appendix-a-to-guideline", LIBRARY, [2025]).info.dropped) == {
        "other title": 1
    }


def test_sets_made_from_links_say_so() -> None:
    info = make_queries("index-to-tabular", LIBRARY, [2025]).info
    assert info.made_from == ("index_entry_to_code",)
    assert info.text_from == "index_path"
    assert any("circular" in line for line in info.warnings(links=True))
    assert info.warnings(links=False) == []
    headings = make_queries("title18-heading", LIBRARY, [2025]).info
    assert any("repeat" in line for line in headings.warnings())


def test_headings_that_several_sections_share_are_left_out() -> None:
    manual = outline(
        "title18",
        2025,
        [
            Entry(0, "18 U.S.C. § 1", "Definitions"),
            Entry(0, "18 U.S.C. § 2", "definitions."),
            Entry(0, "18 U.S.C. § 3", "Theft of lanterns"),
        ],
    )
    found = make_queries("title18-heading", library_of(manual), [2025])
    assert pairs(found) == {"Theft of lanterns": {"18 U.S.C. § 3"}}
    assert dict(found.info.dropped) == {"ambiguous": 2}


def test_a_sample_is_exact_and_a_smaller_one_is_its_beginning() -> None:
    entries = [Entry(0, f"18 U.S.C. § {n}", f"Heading number {n}") for n in range(1, 60)]
    library = library_of(*(outline("title18", year, entries) for year in (2023, 2024)))
    whole = make_queries("title18-heading", library, [2023, 2024], seed=7)
    part = make_queries("title18-heading", library, [2024, 2023], 20, seed=7)
    assert part.queries == whole.queries[:20]
    assert part.golds == whole.golds[:20]
    assert {query.year for query in part.queries} == {2023, 2024}
    other = make_queries("title18-heading", library, [2023, 2024], 20, seed=8)
    assert [query.text for query in other.queries] != [query.text for query in part.queries]
    # Written down: a seed means the same queries in every version of this project.
    assert [query.text for query in part.queries[:3]] == PINNED


PINNED = ["Heading number 50", "Heading number 16", "Heading number 5"]


def test_fewer_than_asked_for_is_said() -> None:
    found = make_queries("guideline-heading", LIBRARY, [2025], 2000)
    assert len(found.queries) == 3
    assert "3 queries are all there are" in found.notes[0]


def test_bad_requests() -> None:
    with pytest.raises(BadOption, match="index-to-tabular"):
        make_queries("index", LIBRARY, [2025])
    with pytest.raises(UnknownYear, match="2019"):
        make_queries("index-to-tabular", LIBRARY, [2019])
    with pytest.raises(BadOption, match="from 1"):
        make_queries("index-to-tabular", LIBRARY, [2025], 0)


@pytest.mark.parametrize(
    ("text", "copy"),
    [
        ("High pressure", True),
        ("high, PRESSURE!", True),
        ("pressure, high", False),
        ("High pressures", False),
    ],
)
def test_copies_are_word_for_word(text: str, copy: bool) -> None:
    section = icd_manuals()[1].get("I10")
    assert is_copy(text, [section]) is copy
    assert normalised("A–b (C)") == "a b c"


def test_round_trip(tmp_path: Path) -> None:
    made = make_queries("index-to-tabular", LIBRARY, [2025], 3)
    path = tmp_path / "set.jsonl"
    qrels = write_query_set(path, made)
    read = read_query_set(path)
    assert (read.info, read.queries, read.golds) == (made.info, made.queries, made.golds)
    assert [(row.query_id, row.doc_id) for row in read_qrels(qrels)] == [
        (gold.query_id, gold.section) for gold in made.golds
    ]


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"case_id": "a", "text": "stolen rifle", "year": 2025}\n', encoding="utf-8")
    read = read_query_set(path)
    assert read.queries == (Query("a", "stolen rifle", 2025),)
    assert read.info == SetInfo("own")
    assert read.golds == ()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"text": "x"}, "no query_id"),
        ({"query_id": "b", "text": " "}, "empty"),
        ({"query_id": "b"}, "missing or empty"),
        ({"query_id": "b", "text": "x", "year": "2025"}, "year"),
        ({"query_id": "b", "text": "x", "source": "usc"}, "source"),
        ({"query_id": "a", "text": "x"}, "line 1 already"),
        ({"query_id": "b", "text": "x", "golds": ["§2K2.1"]}, "golds"),
        ({"query_id": "b", "text": "x", "golds": [{"key": "§2K2.1"}]}, "source"),
        ({"query_set": {"format": 99}}, "comes first"),
    ],
)
def test_bad_files(tmp_path: Path, row: dict[str, object], reason: str) -> None:
    path = tmp_path / "q.jsonl"
    good = json.dumps({"query_id": "a", "text": "x"})
    path.write_text(f"{good}\n{json.dumps(row)}\n", encoding="utf-8")
    with pytest.raises(BadCases, match=reason) as caught:
        read_query_set(path)
    assert str(caught.value).startswith(f"{path}:2:")


def test_a_newer_format_and_a_damaged_head(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"query_set": {"format": 99}}\n', encoding="utf-8")
    with pytest.raises(BadCases, match="format 99"):
        read_query_set(path)
    path.write_text('{"query_set": {"format": 1}}\n', encoding="utf-8")
    with pytest.raises(BadCases, match="damaged"):
        read_query_set(path)


@pytest.mark.real
def test_the_real_index_set(real_manuals: Path) -> None:
    from manuals.library.editions import open_manuals

    made = make_queries("index-to-tabular", open_manuals(real_manuals), [2025], 2000, 7)
    assert (made.info.population, len(made.queries)) == (60846, 2000)
    assert made.queries[0].text == "Granuloma > foreign body > skin"
    golds = [gold for gold in made.golds if gold.query_id == made.queries[0].query_id]
    assert golds == [Gold(made.queries[0].query_id, "tabular", 2025, "L92.3", origin="code")]
