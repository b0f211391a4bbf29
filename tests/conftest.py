"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from manuals.library.editions import Library, open_manuals
from manuals.model.source import SOURCES

# A slow machine is no defect: no test fails for the time it takes.
settings.register_profile("tam", deadline=None)
settings.load_profile("tam")

# Before torch loads: its threads must not spin while other tests run beside.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def sample_manuals() -> Path:
    """The bundled sample manuals."""
    return ROOT / "manuals" / "sample"


def _real(variable: str, default: Path, what: str) -> Path:
    folder = Path(os.environ.get(variable, default))
    if not folder.is_dir():
        pytest.skip(f"no {what} at {folder.name}: set {variable} to their folder")
    return folder


@pytest.fixture(scope="session")
def real_manuals() -> Path:
    """The real manuals: ``TAM_REAL_MANUALS`` or ``../shared/manuals``."""
    return _real("TAM_REAL_MANUALS", ROOT.parent / "shared" / "manuals", "real manuals")


@pytest.fixture(scope="session")
def real_library(real_manuals: Path) -> Library:
    """The real manuals, each edition parsed once for all tests of a worker."""
    return open_manuals(real_manuals)


@pytest.fixture(scope="session")
def real_cases() -> Path:
    """The small cases with answers: ``TAM_REAL_CASES`` or ``../shared/cases``."""
    return _real("TAM_REAL_CASES", ROOT.parent / "shared" / "cases", "cases")


def _built(library: Library, corpus: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from indexers.building.build import build
    from tam.settings import BuildSettings

    out = tmp_path_factory.mktemp("indexes")
    build(library, out, BuildSettings(encoder="hash"), (corpus,))
    return out / corpus


@pytest.fixture(scope="session")
def sample_icd_index(sample_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample's ICD-10-CM manuals, hash encoder."""
    return _built(open_manuals(sample_manuals), "icd", tmp_path_factory)


@pytest.fixture(scope="session")
def sample_legal_index(sample_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample's legal manuals, hash encoder."""
    return _built(open_manuals(sample_manuals), "legal", tmp_path_factory)


@pytest.fixture(scope="session")
def real_legal_index(real_library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the real legal manuals of 2021 and 2025, hash encoder."""
    chosen = [
        e
        for e in real_library.editions
        if SOURCES[e.source].corpus == "legal" and e.year in (2021, 2025)
    ]
    some = Library(chosen, lambda edition: real_library.manual(edition.source, edition.year))
    return _built(some, "legal", tmp_path_factory)
