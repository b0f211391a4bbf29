"""Cutting a long text: nothing but white space is lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.model.cut import Cutter, Sizes

SENTENCES = st.lists(
    st.sampled_from(
        [
            'He said "Stop the car."',
            "See the note (it is below.)",
            "Apply [the table.]",
            "A plain sentence of the text;",
            "‘Quoted once more.’",
            "(a) an item\n",
        ]
    ),
    min_size=1,
    max_size=30,
)


@given(sentences=SENTENCES, target=st.integers(32, 60))
@settings(max_examples=60, deadline=None)
def test_only_white_space_stands_between_two_pieces(sentences: list[str], target: int) -> None:
    text = " ".join(sentences)
    pieces = Cutter(text, Sizes(target, target + 8)).cut((0, len(text)), "")
    assert "".join("".join(text[start:end].split()) for start, end in pieces) == "".join(
        text.split()
    )
    assert all(text[start:end] == text[start:end].strip() for start, end in pieces)
