"""Cutting a case into passages, and the passage of a hit that is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexers.legs.tokenise import Tokeniser
from retrievers.ranking.passages import cut_passages
from retrievers.search.excerpts import match_marks

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


@given(text=st.text(alphabet="ab. \n-A;1)", max_size=200), words=st.integers(8, 30))
def test_passages_keep_every_word_in_order(text: str, words: int) -> None:
    passages = cut_passages(text, words)
    kept = " ".join(passages).split()
    # Only the marks of list items may go.
    rest = iter(text.split())
    assert all(any(word == other for other in rest) for word in kept)
    assert [w for w in kept if w.strip("-")] == [w for w in text.split() if w.strip("-")]
    assert all(0 < len(passage.split()) <= words for passage in passages)


def test_codes_and_citations_are_marked_whole() -> None:
    tokeniser = Tokeniser()
    text = 'see "E11.22", (18 U.S.C. § 922(g)(1)).'
    marks = match_marks(text, dict.fromkeys(tokeniser.terms("e11 922(g)"), 1.0), tokeniser)
    assert [text[low:high] for low, high in marks] == ["E11.22", "922(g)(1)"]
