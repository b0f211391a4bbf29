"""Differences of a section between two editions."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from factories import manual
from hypothesis import given
from hypothesis import strategies as st
from test_title18 import USC, parsed

from manuals.library.diff import Change, diff_sections, render_diff
from manuals.model.sections import Manual


def compared(before: str, after: str) -> tuple[Change, ...]:
    a, b = manual("title18", 2021, ["\n" + before]), manual("title18", 2022, ["\n" + after])
    return diff_sections(a, a.get("K1"), b, b.get("K1")).changes


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_a_changed_word() -> None:
    (change,) = compared(
        "shall be imprisoned not more than 10 years, or both.",
        "shall be imprisoned not more than 15 years, or both.",
    )
    assert change.kind == "changed"
    assert [words for words in change.words if words[0] != "same"] == [
        ("removed", "10 "),
        ("added", "15 "),
    ]


def test_new_gone_and_unchanged_paragraphs() -> None:
    changes = compared(
        "First stays as it was.\n\nSecond paragraph goes away.\n\nLast stays.",
        "First stays as it was.\n\nLast stays.\n\nSomething wholly other comes.",
    )
    assert [(change.kind, change.before, change.after) for change in changes] == [
        ("gone", "Second paragraph goes away.", ""),
        ("new", "", "Something wholly other comes."),
    ]


def test_white_space_is_no_change() -> None:
    assert compared("One  line\nof text.", "One line of\u00a0text.") == ()


def test_no_change_is_said() -> None:
    a = manual("title18", 2021, ["Same words."])
    b = replace(a, edition=replace(a.edition, year=2022))
    text = render_diff(diff_sections(a, a.get("K1"), b, b.get("K1")))
    assert text == "K1 Heading 1: 2021 -> 2022\nno change"


def test_rendering_marks_words_and_leaves_long_stretches_out() -> None:
    long = " ".join(f"word{number}" for number in range(90))
    a = manual("title18", 2021, [f"Start {long} old end."])
    b = manual("title18", 2022, [f"Start {long} new end."])
    difference = diff_sections(a, a.get("K1"), b, b.get("K1"))
    plain = render_diff(difference)
    assert "paragraphs: 1 changed" in plain
    assert "[-old-] {+new+} end." in plain
    assert "Start word0" in plain
    assert "…" in plain
    assert "word40" not in plain
    assert "\x1b" not in plain
    coloured = render_diff(difference, colour=True)
    assert "\x1b[9;31mold\x1b[0m \x1b[32mnew\x1b[0m end." in coloured
    assert "[-" not in coloured


WORDS = st.lists(st.sampled_from(["tax", "law,", "(a)", "may", "not", "§2", "end."]), max_size=12)
TEXTS = st.lists(WORDS, max_size=6).map(
    lambda paragraphs: "\n\n".join(" ".join(words) for words in paragraphs if words)
)


@given(TEXTS, TEXTS)
def test_changes_give_both_texts_back(before: str, after: str) -> None:
    """Unchanged paragraphs aside, the old and new words stand in the changes in order."""
    changes = compared(before, after)
    old, new = before.split("\n\n"), after.split("\n\n")
    for paragraphs, side in ((old, "before"), (new, "after")):
        left = [squeezed(paragraph) for paragraph in paragraphs]
        for change in changes:
            text = squeezed(getattr(change, side))
            if text:
                assert text in left
                left = left[left.index(text) + 1 :]
    assert (changes == ()) == ([*filter(None, old)] == [*filter(None, new)])


def test_the_sample_years(sample_manuals: Path) -> None:
    older, newer = parsed(sample_manuals, 2023), parsed(sample_manuals, 2024)

    def shown(key: str) -> str:
        return render_diff(diff_sections(older, older.get(key), newer, newer.get(key)))

    assert "imprisoned not more than [-five-] {+six+} years" in shown(USC + "924")
    assert f"{USC}924(a)(1)\n" in shown(USC + "924")
    gone = shown(USC + "201")
    assert f"{USC}201(f) (gone)" in gone
    assert f"{USC}201 Notes > Amendments" in gone
    assert shown(USC + "922").endswith("no change")


@pytest.mark.real
def test_ten_years_became_fifteen(real_manuals: Path) -> None:
    def edition(year: int) -> Manual:
        return parsed(real_manuals / "title18" / str(year), year)

    old, new = edition(2021), edition(2022)
    key = USC + "924"
    text = render_diff(diff_sections(old, old.get(key), new, new.get(key)))
    first, second = text.split("\n\n")[1:3]
    assert first.startswith(f"{key}(a)(2)\n")
    assert "(a)(6)[-, (d), (g)-], (h)" in first
    assert "not more than 10 years" in first
    assert second.startswith(f"{key}(a)(8) (new)\n")
    assert "subsection (d) or (g) of section 922" in second
    assert "not more than 15 years" in second
