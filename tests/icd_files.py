"""ICD-10-CM editions for tests, and what must hold of every parsed one."""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path

import pytest

from manuals.icd10cm.index import parse_index
from manuals.icd10cm.tabular import parse_tabular
from manuals.library.discover import discover
from manuals.library.editions import parse_edition
from manuals.model.sections import Edition, Manual, ManualFile


def edition(source: str = "tabular", year: int = 2025) -> Edition:
    """An edition in force for its fiscal year, with one made-up file."""
    file = ManualFile(f"{source}_{year}.xml", "0" * 64, 100)
    start, end = date(year - 1, 10, 1), date(year, 9, 30)
    return Edition(source, year, f"{source} {year}", str(year), (file,), start, end)


def sample(folder: Path, name: str) -> Manual:
    """An edition of a folder, such as ``tabular/2025``."""
    found = {edition.name: edition for edition in discover(folder).editions}
    return parse_edition(found[name], folder)


def real(folder: Path, source: str, year: int) -> Manual:
    """A real edition, parsed once; skips the test where its file is absent."""
    name = "drug" if source == "drugs" else source
    path = folder / "icd10cm" / str(year) / f"icd10cm_{name}_{year}.xml"
    if not path.is_file():
        pytest.skip(f"no {source} of {year} among the real manuals")
    return _parse(path, source, year)


@cache
def _parse(path: Path, source: str, year: int) -> Manual:
    parse = parse_tabular if source == "tabular" else parse_index
    return parse([path], edition(source, year))


def check_spans(manual: Manual) -> None:
    """Children lie inside parents, siblings in order, the heading comes first, keys are unique."""
    for section in manual.sections:
        assert section.title in manual.subtree_text(section).split("\n")[0]
        end = section.span[0]
        for child in manual.children(section):
            assert end < child.span[0] < child.span[1] <= section.span[1]
            end = child.span[1]
    assert len(manual.by_key) == len(manual.sections) > 0
