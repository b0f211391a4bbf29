"""HTML pages of reports: what is text is escaped, what is markup is not escaped twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from eval.reporting.html import TEMPLATES, _environment, render, write_page

NASTY = "<b onclick='x'>\"&"
SAFE = "&lt;b onclick=&#39;x&#39;&gt;&#34;&amp;"
TABLE = '{% import "parts.html.j2" as parts %}{{ parts.table(head, rows, [1], caption, [1]) }}'


def made(source: str, **values: object) -> str:
    return _environment().from_string(source).render(values)


@pytest.mark.parametrize(
    "part", ["heading(text)", "warning(text)", "list([text])", "contents([text])"]
)
def test_text_is_escaped_in_every_part(part: str) -> None:
    page = made(f'{{% import "parts.html.j2" as parts %}}{{{{ parts.{part} }}}}', text=NASTY)
    assert SAFE in page and "<b" not in page


def test_text_is_escaped_in_a_page_a_table_and_a_figure() -> None:
    page = render("page.html.j2", title=NASTY, lead=NASTY, sections=[])
    table = made(TABLE, head=["", NASTY], rows=[[NASTY, NASTY]], caption=NASTY)
    drawn = {"svg": Markup("<svg></svg>"), "caption": NASTY}
    figure = made('{% import "parts.html.j2" as parts %}{{ parts.figure(drawn) }}', drawn=drawn)
    assert (page.count(SAFE), table.count(SAFE), figure.count(SAFE)) == (3, 4, 1)
    assert "onclick='" not in page + table + figure
    assert "<svg></svg>" in figure


def test_markup_is_not_escaped_again() -> None:
    call = TABLE.replace("{{ parts", "{% call(cell, at) parts").replace(") }}", ") %}")
    page = made(call + "<i>{{ cell }}</i>{% endcall %}", head=["a"], rows=[["x & y"]], caption="")
    assert "<i>x &amp; y</i>" in page


def test_a_table_marks_numbers_heads_and_rows() -> None:
    page = made(TABLE, head=["name", "n"], rows=[["x", "1"], ["y", "2"]], caption="")
    assert '<th class="n" scope="col">n</th>' in page
    assert '<tr class="base"><th scope="row">y</th><td class="n">2</td></tr>' in page
    assert "<caption>" not in page


def test_a_page_needs_no_network(tmp_path: Path) -> None:
    write_page(tmp_path / "page.html", "page.html.j2", title="T", lead="", sections=["Part one"])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert '<a href="#part-one">Part one</a>' in text
    assert "http" not in text and "<script" not in text and 'class="lead"' not in text


def test_a_value_that_is_not_given_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("page.html.j2", title="T")


def test_no_template_switches_the_escaping_off() -> None:
    for path in TEMPLATES.glob("*.j2"):
        text = path.read_text(encoding="utf-8")
        assert "autoescape" not in text, path.name
        # The one exception is a constant.
        assert text.replace("' class=\"n\"'|safe", "").count("|safe") == 0, path.name
