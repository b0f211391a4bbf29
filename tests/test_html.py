"""HTML pages of reports: what is text is escaped, what is markup is not escaped twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.reporting.html import (
    Html,
    element,
    escape,
    figure,
    heading,
    items,
    joined,
    page,
    table,
    write_page,
)

NASTY = "<b onclick='x'>\"&"


@pytest.mark.parametrize(
    "made",
    [
        escape(NASTY),
        element("p", NASTY),
        element("p", "x", title=NASTY),
        heading(NASTY),
        items([NASTY]),
        table([NASTY], [[NASTY]], caption=NASTY),
        figure("<svg></svg>", NASTY),
        joined([NASTY], NASTY),
        page(NASTY, [NASTY], NASTY),
    ],
)
def test_text_is_escaped_wherever_it_goes_in(made: str) -> None:
    assert "onclick='" not in made
    assert "&lt;b onclick=&#x27;x&#x27;&gt;&quot;&amp;" in made


def test_markup_is_not_escaped_again() -> None:
    inner = element("b", "a & b")
    assert element("p", inner, " < c") == "<p><b>a &amp; b</b> &lt; c</p>"
    assert isinstance(joined([inner, inner], ", "), Html)
    assert escape(inner) is inner


def test_a_table_marks_numbers_heads_and_rows() -> None:
    made = table(["name", "n"], [["x", "1"], ["y", "2"]], numbers=[1], marked=[1])
    assert '<th class="n" scope="col">n</th>' in made
    assert '<tr class="base"><th scope="row">y</th><td class="n">2</td></tr>' in made


def test_a_page_needs_no_network(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", "Title", [heading("Part one")], "Lead.")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert '<h2 id="part-one">Part one</h2>' in text
    assert "http" not in text and "<script" not in text
