"""Windows: they cover the text, overlap, stay within the encoder's window, keep the heading."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from factories import body, chunks
from hypothesis import given, settings
from hypothesis import strategies as st

from chunkers.model.chunk import Chunk
from indexers.encoders.base import Encoder, HashEncoder, open_encoder
from indexers.encoders.windows import Window, WindowOptions, windows

CHUNK = chunks({("title18", 2024): [body(1)]})[0]


class Narrow(HashEncoder):
    window = 20


def cut(text: str, context: str = "", encoder: Encoder | None = None, overlap: int = 5,
        enabled: bool = True) -> list[Window]:  # fmt: skip
    whole = f"{context}\n\n{text}" if context else text
    chunk: Chunk = replace(CHUNK, text=whole, context=context)
    options = WindowOptions(enabled, overlap)
    return next(windows([chunk], encoder or Narrow(), options))


def test_a_short_text_is_one_window() -> None:
    assert cut("one two three", "Document: D") == [Window("Document: D\n\none two three", (0, 26))]


def test_long_texts_keep_the_last_context_line() -> None:
    context = "A long first line of the context\nSection: S"
    found = cut(body(1, 60), context)
    assert len(found) > 3
    assert all(window.text.startswith("Section: S\n") for window in found)
    assert all("first line" not in window.text for window in found)


def test_a_heading_too_long_is_left_out() -> None:
    found = cut(body(1, 60), "six words are too many here")
    assert not any("words" in window.text for window in found)


def test_off_is_one_truncated_window() -> None:
    text = body(1, 60)
    [window] = cut(text, enabled=False)
    assert window.text == text
    assert text[slice(*window.span)].split() == text.split()[:20]


@pytest.mark.parametrize("blank", ["", " \n\t "])
def test_a_blank_text_has_no_window(blank: str) -> None:
    assert cut(blank) == []


def test_without_a_limit_nothing_is_cut() -> None:
    class Endless(HashEncoder):
        window = None

    assert len(cut(body(1, 5000), encoder=Endless())) == 1


@given(
    words=st.lists(st.text("abcdé§.", min_size=1, max_size=6), min_size=1, max_size=90),
    joints=st.lists(st.sampled_from([" ", "\n", "  \n "]), min_size=90, max_size=90),
    overlap=st.integers(0, 50),
    context=st.sampled_from(["", "Heading", "Outer line here\nInner line"]),
)
@settings(max_examples=150, deadline=None)
def test_windows_cover_the_body(
    words: list[str], joints: list[str], overlap: int, context: str
) -> None:
    text = "".join(word + joint for word, joint in zip(words, joints, strict=False))
    found = cut(text, context, overlap=overlap)
    whole = f"{context}\n\n{text}" if context else text
    spans = [window.span for window in found]
    assert spans == sorted(spans)
    covered = {at for start, end in spans for at in range(start, end)}
    start = len(whole) - len(text)
    assert all(at in covered for at in range(start, len(whole)) if not whole[at].isspace())
    for window in found:
        assert len(window.text.split()) <= 20
        assert window.text.endswith(whole[slice(*window.span)])
    for first, second in itertools.pairwise(spans):
        shared = whole[second[0] : first[1]].split()
        assert len(shared) <= overlap


def test_word_pieces_are_kept_within_words() -> None:
    """With the packaged model's tokenizer a window begins and ends between words."""
    encoder = open_encoder("all-MiniLM-L6-v2")
    text = " ".join(f"unforeseeableness{n} 922(g)({n})" for n in range(200))
    whole = f"Section: S\n\n{text}"
    found = cut(text, "Section: S", encoder, overlap=40)
    assert len(found) > 5
    for window in found:
        start, end = window.span
        assert whole[start - 1].isspace()
        assert end == len(whole) or whole[end].isspace()
        assert len(encoder.offsets([window.text])[0]) <= 254
