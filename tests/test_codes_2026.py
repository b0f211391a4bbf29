"""Codes of FY 2026: a category of two letters and a digit, in an edition of our own."""

from __future__ import annotations

import pytest

from eval.domains.icd.cases import parse_codes
from eval.domains.icd.golds import IcdGolds
from indexers.building.build import build
from manuals.icd10cm.codes import CATEGORY, is_code, normalise_code
from manuals.library.editions import Library, open_manuals
from manuals.model.keys import find_references, parse_reference
from manuals.model.sections import Section
from retrievers.search.index import Index, open_index
from tam.errors import UnknownKey
from tam.settings import BuildSettings

TABULAR = """<?xml version="1.0" encoding="utf-8"?>
<ICD10CM.tabular><version>2026</version>
<introduction><introSection type="title"><title>Tabular sample</title></introSection></introduction>
<chapter><name>17</name><desc>Invented anomalies (Q00-QA0)</desc>
<sectionIndex><sectionRef first="Q95" last="Q99" id="Q95-Q99">Made-up strands</sectionRef>
<sectionRef first="QA0" last="QA0" id="QA0">Made-up switches</sectionRef></sectionIndex>
<section id="Q95-Q99"><desc>Made-up strands (Q95-Q99)</desc>
<diag><name>Q99</name><desc>Other made-up strands</desc></diag></section>
<section id="QA0"><desc>Made-up switches (QA0)</desc>
<diag><name>QA0</name><desc>Disorders of the made-up switch</desc>
<diag><name>QA0.0</name><desc>Switch stuck open</desc>
<diag><name>QA0.01</name><desc>Switch stuck open with hum</desc></diag></diag>
<diag><name>QA0.1</name><desc>Switch stuck shut</desc></diag></diag></section>
</chapter></ICD10CM.tabular>
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("fy2026")
    (folder / "icd10cm_tabular_2026.xml").write_text(TABULAR, encoding="utf-8")
    return open_manuals(folder)


@pytest.fixture(scope="module")
def index(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Index:
    out = tmp_path_factory.mktemp("fy2026-index")
    build(library, out, BuildSettings(encoder="hash"), ("icd",))
    return open_index(out / "icd")


def test_the_edition_is_read(library: Library) -> None:
    manual = library.manual("tabular", 2026)
    assert manual.edition.problems == ()
    codes = [section.key for section in manual.sections if is_code(section.key)]
    assert codes == ["Q99", "QA0", "QA0.0", "QA0.01", "QA0.1"]
    assert [section.kind for section in manual.ancestors(manual.get("QA0.1"))] == [
        "chapter", "block", "category",
    ]  # fmt: skip


@pytest.mark.parametrize("typed", ["QA0.1", "qa0.1", "QA01", "QA0.1-"])
def test_a_code_is_opened(library: Library, typed: str) -> None:
    found = library.look_up(typed, 2026)
    assert (found.section.key, found.exact) == ("QA0.1", True)


@pytest.mark.parametrize(
    ("query", "under", "first"),
    [
        ("QA0.1", None, "QA0.1"),
        ("code QA0", None, "QA0"),
        ("patient with QA0.01, stable", None, "QA0.01"),
        ("stuck shut", "QA0", "QA0.1"),
        ("hum", "Q00-QA0", "QA0.01"),
        ("strands", "Q95-Q99", "Q99"),
    ],
)
def test_searches(index: Index, query: str, under: str | None, first: str) -> None:
    assert index.search(query, k=1, under=under)[0].citation == first


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("QA0.1 and E11.22", ["QA0.1", "E11.22"]),
        ("code QA0", ["QA0"]),
        ("air with PM2.5 above the limit", []),
        ("COVID-19 in the ward", []),
        ("vitamin B12 is low", []),
        ("variant BA.5, then qa testing", []),
        ("a PA1 plan and room BA2", []),
        ("SARS-CoV-2", []),
    ],
)
def test_codes_in_a_text(text: str, codes: list[str]) -> None:
    assert [r.key for r in find_references(text) if r.kind.startswith("code")] == codes


@pytest.mark.parametrize("text", ["PM2.5", "COVID-19", "banana", "QAA", "AB1.2", "Q0"])
def test_no_codes(text: str) -> None:
    assert not is_code(text)


def test_the_form_alone() -> None:
    assert normalise_code("qa001") == "QA0.01"
    assert parse_reference("Q95-QA0").through == "QA0"


def test_a_code_that_no_list_has_is_a_gold_that_is_missing(library: Library) -> None:
    codes = parse_codes("QA0.1, QA0.77, QB0.1, I1O.9")
    assert codes == ("QA0.1", "QA0.77", "QB0.1", "I1O.9")
    golds = IcdGolds(library).golds("1", codes, {"tabular": 2026})
    assert [gold.key for gold in golds] == list(codes)
    for code in codes[1:]:
        with pytest.raises(UnknownKey):
            library.manual("tabular", 2026).get(code)
    with pytest.raises(ValueError, match="pneumonia"):
        parse_codes("pneumonia")


@pytest.mark.real
def test_categories_of_all_lists_have_the_form(real_library: Library) -> None:
    import re

    seen = 0
    for edition in real_library.editions:
        if edition.source == "tabular":
            sections: tuple[Section, ...] = real_library.manual(
                edition.source, edition.year
            ).sections
            keys = [section.key for section in sections if section.kind == "category"]
            assert [key for key in keys if not re.fullmatch(CATEGORY, key)] == []
            seen += len(keys)
    assert seen > 3800
