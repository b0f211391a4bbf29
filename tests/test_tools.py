"""The browsing and retrieval tools: what they show, their pages, and their error values."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import eval.systems.tools.registry
from eval.domains.model import DOMAINS
from eval.systems.tools.editions import EditionChooser
from eval.systems.tools.paging import PAGE_CHARACTERS, paged
from eval.systems.tools.registry import all_tools, tools_of
from eval.systems.tools.tool import CaseEditions, Tool
from manuals.library.editions import Library, open_manuals
from retrievers.search.index import open_index
from tam.cli.tools import tool as tool_command
from tam.errors import BadOption


@pytest.fixture(scope="module")
def library(sample_manuals: Path) -> Library:
    return open_manuals(sample_manuals)


@pytest.fixture(scope="module")
def icd(library: Library) -> CaseEditions:
    return EditionChooser(library, DOMAINS["icd"]).choose(2025)


@pytest.fixture(scope="module")
def legal(library: Library) -> CaseEditions:
    return EditionChooser(library, DOMAINS["legal"]).choose(2024)


def tool_named(name: str) -> Tool:
    return eval.systems.tools.registry.tool_named(name)[1]


def call(editions: CaseEditions, name: str, **arguments: object) -> str:
    return tool_named(name).call(editions, arguments).text


def test_as_many_tools_as_the_paper_has() -> None:
    assert [len(tools_of(DOMAINS[d], "browse")) for d in ("icd", "legal")] == [8, 7]
    assert [len(tools_of(DOMAINS[d], "search")) for d in ("icd", "legal")] == [2, 2]


@pytest.mark.parametrize("found", [found for _, found in all_tools()], ids=lambda found: found.name)
def test_each_tool_is_described_for_a_model(found: Tool) -> None:
    schema = found.schema
    assert len(found.description) > 35
    assert schema["type"] == "object" and schema["additionalProperties"] is False
    for name in schema["required"]:
        assert name in schema["properties"]
    json.dumps(schema)


SHOWN = [
    ("icd", "list_index_terms", {"prefix": "diab"}, ["Diabetes, diabetic"]),
    ("icd", "open_index_entry", {"entry": "diabetes, diabetic"}, ["E11.22", "type 2"]),
    ("icd", "list_tabular_chapters", {}, ["Chapter 4"]),
    ("icd", "open_tabular_chapter", {"chapter": 4}, ["E08-E13"]),
    ("icd", "open_tabular_chapter", {"chapter": "4"}, ["E08-E13"]),
    ("icd", "open_tabular_block", {"block": "e08–e13"}, ["E11"]),
    ("icd", "open_tabular_code", {"code": "e1122"}, ["valid: yes", "(from E11)"]),
    ("icd", "open_tabular_code", {"code": "E11.2"}, ["valid: no", "E11.22"]),
    ("icd", "list_guideline_contents", {}, ["I.C", "II"]),
    ("icd", "list_guideline_contents", {"under": "I.C.4"}, ["I.C.4.a"]),
    ("icd", "open_guideline_section", {"section": "Section I.C.4.a"}, ["key: I.C.4.a"]),
    ("legal", "list_title18_chapters", {}, ["18 U.S.C. Chapter 44"]),
    ("legal", "open_title18_chapter", {"chapter": "chapter 44"}, ["18 U.S.C. § 924"]),
    ("legal", "open_statute_section", {"citation": "18 USC 924(a)"}, ["key: 18 U.S.C. § 924(a)"]),
    ("legal", "search_appendix_a", {"statute": "18 usc 371"}, ["§2X1.1", "§2C1.1 (if"]),
    ("legal", "list_ussg_contents", {}, ["USSG Chapter 3, Part D"]),
    ("legal", "list_ussg_contents", {"under": "Chapter 3, Part D"}, ["§3D1.4"]),
    ("legal", "open_ussg_subheading", {"heading": "Chapter 5, Part A"}, ["43 |"]),
    ("legal", "open_ussg_subheading", {"heading": "2B1.1 application note 1"}, ["Definitions"]),
    ("legal", "open_guideline", {"guideline": "2k2.1"}, ["key: §2K2.1", "Base Offense Level"]),
]


@pytest.mark.parametrize(("domain", "name", "arguments", "words"), SHOWN)
def test_what_a_tool_shows(
    domain: str,
    name: str,
    arguments: dict[str, object],
    words: list[str],
    icd: CaseEditions,
    legal: CaseEditions,
) -> None:
    result = tool_named(name).call(icd if domain == "icd" else legal, arguments)
    assert not result.error, result.text
    for word in words:
        assert word in result.text


MISTAKES = [
    ("icd", "list_index_terms", {"prefix": ""}, "prefix"),
    ("icd", "list_index_terms", {"prefix": "Zzz"}, "list_index_terms"),
    ("icd", "list_index_terms", {"prefix": "D", "page": 99}, "pages are 1"),
    ("icd", "open_index_entry", {"entry": "No such disease"}, "list_index_terms"),
    ("icd", "open_index_entry", {"entry": "18 USC 924"}, "list_index_terms"),
    ("icd", "open_tabular_chapter", {"chapter": 99}, "list_tabular_chapters"),
    ("icd", "open_tabular_block", {"block": "E11"}, "open_tabular_chapter"),
    ("icd", "open_tabular_code", {"code": "E11.999"}, "not a code"),
    ("icd", "open_tabular_code", {"code": "banana"}, "not a code"),
    ("icd", "open_guideline_section", {"section": "IX.Z"}, "Error"),
    ("legal", "open_title18_chapter", {"chapter": "999"}, "list_title18_chapters"),
    ("legal", "open_statute_section", {"citation": "18 USC 99999"}, "99999"),
    ("legal", "open_statute_section", {"citation": "21 USC 841"}, "Error"),
    ("legal", "search_appendix_a", {"statute": "bank fraud"}, "statute"),
    ("legal", "search_appendix_a", {"statute": "99 USC 1"}, "no row"),
    ("legal", "list_ussg_contents", {"under": "nowhere"}, "Error"),
    ("legal", "open_guideline", {"guideline": "9Z9.9"}, "Error"),
    ("legal", "open_guideline", {}, "needs the argument"),
    ("legal", "open_guideline", {"guideline": "2K2.1", "colour": "red"}, "no argument"),
    ("legal", "open_guideline", {"guideline": ["2K2.1"]}, "not of type"),
    ("legal", "search_legal_manuals", {"query": "x", "source": "bible"}, "one of"),
    ("legal", "search_legal_manuals", {"query": "x"}, "no index"),
]


@pytest.mark.parametrize(("domain", "name", "arguments", "words"), MISTAKES)
def test_a_mistake_is_an_error_value_with_a_way_on(
    domain: str,
    name: str,
    arguments: dict[str, object],
    words: str,
    icd: CaseEditions,
    legal: CaseEditions,
) -> None:
    result = tool_named(name).call(icd if domain == "icd" else legal, arguments)
    assert result.error and result.text.startswith("Error: ")
    assert words in result.text
    assert result.sections == ()


def test_a_year_without_an_edition_is_an_error_value(library: Library) -> None:
    editions = CaseEditions(library, {"title18": 2024})
    result = tool_named("open_guideline").call(editions, {"guideline": "2K2.1"})
    assert result.error and "no edition of ussg" in result.text


def test_year_is_bound_by_the_caller(library: Library) -> None:
    for year in (2023, 2024):
        editions = EditionChooser(library, DOMAINS["legal"]).choose(year)
        result = tool_named("open_guideline").call(editions, {"guideline": "3E1.1"})
        assert result.sections[0] == f"ussg/{year}/§3E1.1"
        assert {name.split("/")[1] for name in result.sections} == {str(year)}
    assert (
        tool_named("open_guideline")
        .call(EditionChooser(library, DOMAINS["legal"]).choose(2023), {"guideline": "4C1.1"})
        .error
    )


def test_pages_hold_the_whole_text_within_bounds() -> None:
    text = "\n".join(f"line {number} " + "x" * 70 for number in range(1000))
    first = paged(text, 1, "f()")
    count = int(first.rsplit(" of ", 1)[1].split(";")[0])
    shown = [paged(text, page, "f()").rsplit("\n[page", 1)[0] for page in range(1, count + 1)]
    assert "\n".join(shown) == text
    assert all(len(page) <= PAGE_CHARACTERS for page in shown)
    assert "call f() with page=2" in first


def test_a_long_line_is_paged_too() -> None:
    text = "word " * 10_000
    assert len(paged(text, 1, "f()")) < PAGE_CHARACTERS + 100


def test_opening_a_code_with_a_seventh_character(icd: CaseEditions) -> None:
    result = tool_named("open_tabular_code").call(icd, {"code": "s72001a"})
    assert "S72.001A" in result.text and "valid: yes" in result.text
    assert result.sections == ("tabular/2025/S72.001",)
    stem = tool_named("open_tabular_code").call(icd, {"code": "S72.001"})
    assert "needs a seventh character" in stem.text and "S72.001A (" in stem.text


def test_appendix_rows_are_those_of_the_section_only(legal: CaseEditions) -> None:
    text = call(legal, "search_appendix_a", statute="18 U.S.C. § 92")
    assert text.startswith("Error: ")


def test_search_tools_give_at_most_eight_of_the_bound_year(
    library: Library, sample_legal_index: Path
) -> None:
    index = open_index(sample_legal_index)
    chooser = EditionChooser(index.library, DOMAINS["legal"], index=index)
    result = tool_named("search_legal_manuals").call(
        chooser.choose(2023), {"query": "felon in possession of a firearm", "count": 50}
    )
    assert not result.error
    assert len(re.findall(r"(?m)^\[\d\] ", result.text)) == 8
    assert {name.split("/")[1] for name in result.sections} == {"2023"}
    one = tool_named("search_legal_manuals").call(
        chooser.choose(2024), {"query": "firearm", "source": "ussg", "count": 2}
    )
    assert {name.split("/")[0] for name in one.sections} == {"ussg"}
    whole = tool_named("search_legal_whole_case").call(
        chooser.choose(2024), {"case": "A gun. " * 50}
    )
    assert whole.sections


def test_the_command_prints_a_tool_and_the_list(sample_manuals: Path) -> None:
    runner = CliRunner()
    arguments = ["open_tabular_code", '{"code": "E11.22"}', "--year", "2025"]
    result = runner.invoke(tool_command, [*arguments, "--manuals", str(sample_manuals)])
    assert result.exit_code == 0 and "valid: yes" in result.output
    listed = json.loads(runner.invoke(tool_command, ["--list"]).output)
    assert len(listed) == 19
    assert all(row["parameters"]["type"] == "object" for row in listed)


@pytest.mark.parametrize("arguments", ["{", "[1]", '"x"'])
def test_the_command_refuses_what_is_no_object(arguments: str, sample_manuals: Path) -> None:
    result = CliRunner().invoke(
        tool_command, ["open_guideline", arguments, "--manuals", str(sample_manuals)]
    )
    assert isinstance(result.exception, BadOption)


REAL = [
    ("icd", 2025, "open_tabular_code", {"code": "T402X5A"}, ["valid: yes", "T40.2X5A"]),
    ("icd", 2025, "open_index_entry", {"entry": "Constipation > drug-induced"}, ["K59.03"]),
    ("icd", 2025, "open_guideline_section", {"section": "I.C.9.a.2"}, ["I12"]),
    ("legal", 2025, "search_appendix_a", {"statute": "18 USC 922(g)"}, ["922(a)–(p): §2K2.1"]),
    ("legal", 2025, "search_appendix_a", {"statute": "18 USC 924(c)"}, ["924(c): §2K2.4"]),
    ("legal", 2025, "open_guideline", {"guideline": "3D1.4"}, ["More than 5 | add 5 levels"]),
    ("legal", 2025, "open_guideline", {"guideline": "2B1.1"}, ["add 12", "(b)"]),
    ("legal", 2025, "open_guideline", {"guideline": "3E1.1"}, ["decrease the offense level by 2"]),
]


@pytest.mark.real
@pytest.mark.parametrize(("domain", "year", "name", "arguments", "words"), REAL)
def test_real_manuals(
    domain: str,
    year: int,
    name: str,
    arguments: dict[str, object],
    words: list[str],
    real_library: Library,
) -> None:
    result = tool_named(name).call(
        EditionChooser(real_library, DOMAINS[domain]).choose(year),
        arguments,
    )
    assert not result.error, result.text
    for word in words:
        assert word in result.text
