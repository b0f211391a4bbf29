"""Cutting a case into passages, and the passage of a hit that is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexers.legs.tokenise import Tokeniser
from retrievers.ranking.passages import cut_passages
from retrievers.search.excerpts import best_excerpt, match_marks
from retrievers.search.hits import Hit, Leg

CASE = """\
- The defendant sold two pistols to an informant.  He was paid $500.
- One had no serial number.

The search of the house, described in U.S. v. Doe, found more:
1. forty rounds of ammunition that fit the second pistol, and
2. a ledger.
"""


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (
            CASE,
            60,
            [
                "The defendant sold two pistols to an informant. He was paid $500.",
                "One had no serial number. The search of the house, described in U.S. v. Doe, "
                "found more:",
                "1. forty rounds of ammunition that fit the second pistol, and",
                "2. a ledger.",
            ],
        ),
        (
            "one two three four five six seven eight nine ten",
            8,
            ["one two three four five six seven eight", "nine ten"],
        ),
        ("pain", 60, ["pain"]),
        ("A b c. D e f. G h i j k l m n o.", 8, ["A b c. D e f.", "G h i j k l m n", "o."]),
        (" \n\n\t", 60, []),
    ],
)
def test_cut_passages(text: str, words: int, expected: list[str]) -> None:
    assert cut_passages(text, words) == expected


def test_closing_marks_stay_with_their_sentence() -> None:
    text = 'He said "Stop it at once, all of you." Then (he left the room.) She stayed there.'
    assert " ".join(cut_passages(text, 8)) == text
    shown = best_excerpt(hit(f"head\n\n{text}"), {"stop": 1.0}, Tokeniser(), 40)
    assert shown.text.endswith('you."')


@given(text=st.text(alphabet="ab. \n-A;1)", max_size=200), words=st.integers(8, 30))
def test_passages_keep_every_word_in_order(text: str, words: int) -> None:
    passages = cut_passages(text, words)
    kept = " ".join(passages).split()
    # Only the marks of list items may go.
    rest = iter(text.split())
    assert all(any(word == other for other in rest) for word in kept)
    assert [w for w in kept if w.strip("-")] == [w for w in text.split() if w.strip("-")]
    assert all(0 < len(passage.split()) <= words for passage in passages)


def hit(text: str, span: tuple[int, int] | None = None) -> Hit:
    legs = {"dense": Leg(1, 0.5, span)} if span else {}
    return Hit(1, 1.0, "id", ("K",), "K", "", (), 2025, "ussg", None, text, "section", 9, legs)


BODY = (
    "If the offense involved a destructive device, add two levels.\n"
    "If any firearm was stolen, add 2 levels; or had a serial number that was obliterated, "
    "add 4 levels.\nThe court shall consider the relevant conduct of each defendant.\n"
)


@pytest.mark.parametrize(
    ("query", "size", "start", "marked"),
    [
        ("obliterated serial numbers", 110, "If any firearm", ["serial", "number", "obliterated"]),
        ("relevant conducts", 70, "The court", ["relevant", "conduct"]),
        ("destructive devices", 400, "If the offense", ["destructive", "device"]),
        ("zebra", 60, "If the offense", []),
    ],
)
def test_best_excerpt(query: str, size: int, start: str, marked: list[str]) -> None:
    tokeniser = Tokeniser()
    terms = dict.fromkeys(tokeniser.terms(query), 1.0)
    excerpt = best_excerpt(hit(f"§2K2.1 heading\n\n{BODY}"), terms, tokeniser, size)
    assert excerpt.text.startswith(start)
    assert len(excerpt.text) <= size
    assert [excerpt.text[low:high] for low, high in excerpt.marks] == marked


def test_excerpt_without_a_match_is_the_best_window() -> None:
    text = f"§2K2.1 heading\n\n{BODY}"
    window = (text.index("The court"), len(text))
    assert best_excerpt(hit(text, window), {}, Tokeniser(), 30).text.startswith("The court shall")


@given(
    body=st.text(alphabet="ab .\n(E1—", max_size=300),
    size=st.integers(20, 120),
    query=st.text(alphabet="abE1 ", max_size=10),
)
def test_excerpts_fit_and_marks_match(body: str, size: int, query: str) -> None:
    tokeniser = Tokeniser()
    terms = dict.fromkeys(tokeniser.terms(query), 1.0)
    excerpt = best_excerpt(hit(f"head\n\n{body}"), terms, tokeniser, size)
    assert len(excerpt.text) <= size
    assert "\n" not in excerpt.text
    ends = [0, *(at for mark in excerpt.marks for at in mark)]
    assert ends == sorted(ends)
    for low, high in excerpt.marks:
        assert set(tokeniser.terms(excerpt.text[low:high])) & set(terms)


def test_codes_and_citations_are_marked_whole() -> None:
    tokeniser = Tokeniser()
    text = 'see "E11.22", (18 U.S.C. § 922(g)(1)).'
    marks = match_marks(text, dict.fromkeys(tokeniser.terms("e11 922(g)"), 1.0), tokeniser)
    assert [text[low:high] for low, high in marks] == ["E11.22", "922(g)(1)"]
