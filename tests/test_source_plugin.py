"""A source from outside the packages: found by its entry point, built, searched, opened, compared."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from eval.queries.known_items.sets import make_queries
from indexers.building.build import build
from indexers.building.pointers.general import pointers_of
from manuals.library.diff import diff_sections
from manuals.library.editions import Library, open_manuals
from manuals.model.keys import find_references, parse_reference
from manuals.model.source import SOURCES, corpora
from manuals.model.years import edition_in_force
from retrievers.search.index import Index, open_index
from tam.errors import BadOption, UnknownKey
from tam.settings import BuildSettings

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "house_rules"


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The example as an installed distribution: its code and a ``dist-info`` on the path."""
    site = tmp_path_factory.mktemp("site")
    info = site / "house_rules-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: house-rules\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[tam.sources]\nhouse = house_rules:SOURCE\n")
    paths = [str(site), str(EXAMPLE)]
    with pytest.MonkeyPatch.context() as patch:
        for path in paths:
            patch.syspath_prepend(path)
        _forget()
        yield
    _forget()
    for name in [name for name in sys.modules if name.startswith("house_rules")]:
        del sys.modules[name]


def _forget() -> None:
    """Registered objects and what was derived from them are read anew."""
    importlib.invalidate_caches()
    SOURCES._loaded = None


@pytest.fixture(scope="module")
def library(installed: None) -> Library:
    return open_manuals(EXAMPLE / "editions", strict=True)


@pytest.fixture(scope="module")
def index(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Index:
    out = tmp_path_factory.mktemp("indexes")
    settings = BuildSettings(encoder="hash", preset="sections", lines=True)
    build(library, out, settings, ["house"])
    return open_index(out / "house")


def test_it_stands_among_the_others() -> None:
    assert list(SOURCES)[-1] == "house" and corpora() == ("icd", "legal", "house")


def test_recognised_parsed_and_dated(library: Library) -> None:
    assert [edition.name for edition in library.editions] == ["house/2023", "house/2024"]
    assert [edition.title for edition in library.editions] == [
        "House Rules, 2023", "House Rules, 2024",
    ]  # fmt: skip
    assert library.editions[0].effective_to == date(2024, 2, 29)
    assert edition_in_force(library.editions, "house", date(2024, 1, 5)).year == 2023
    manual = library.manual("house", 2023)
    assert sum(section.kind == "rule" for section in manual.sections) == 40
    rule = manual.get("Rule C.4")
    assert rule.path == ("Part C Common room",) and rule.pages is None
    assert manual.own_text(rule).startswith("### Rule C.4. The board")


@pytest.mark.parametrize("typed", ["Rule D.1", "house rule d.1"])
def test_cited(library: Library, typed: str) -> None:
    assert parse_reference(typed).key == "Rule D.1"
    found = library.look_up(typed)
    assert found.section.key == "Rule D.1" and found.manual.year == 2024
    assert [r.key for r in find_references(f"Three nights, by {typed}.")] == ["Rule D.1"]


def test_a_rule_of_one_edition_only(library: Library) -> None:
    with pytest.raises(UnknownKey, match="it is in 2023"):
        library.look_up("Rule A.4", year=2024)
    assert library.look_up("Rule A.4").manual.year == 2023


def test_it_points_on(library: Library) -> None:
    manual = library.manual("house", 2024)
    found = {(p.section.key, p.targets[0].key) for p in pointers_of(manual, lambda source: None)}
    assert {("Rule A.1", "Rule B.2"), ("Rule D.6", "Rule F.4")} <= found


def test_searched_in_a_year(index: Index) -> None:
    for year, word in ((2023, "three"), (2024, "five")):
        hit = index.search("how many nights may a guest stay", year=year)[0]
        assert (hit.source, hit.year) == ("house", year)
        assert "Rule D.1" in hit.section_keys and f"{word} nights" in hit.text
    assert index.search("see Rule C.4", year=2024)[0].found_by == "reference"


def test_compared(library: Library) -> None:
    one, two = (library.look_up("Rule F.2", year=year) for year in (2023, 2024))
    difference = diff_sections(one.manual, one.section, two.manual, two.section)
    assert any("twenty" in str(change) for change in difference.changes)


def test_known_items(library: Library) -> None:
    queries = make_queries("house-rule-heading", library, [2023, 2024])
    assert len(queries.queries) == 80
    assert {gold.source for gold in queries.golds} == {"house"}


def test_a_preset_without_a_rule(library: Library, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="no rule for preset 'paper'; choose one of sections"):
        build(library, tmp_path, BuildSettings(encoder=None), ["house"])
