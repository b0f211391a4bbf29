"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from manuals.library import Library, open_manuals

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


def _sample_index(
    folder: Path, corpus: str, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    from indexers.build import build
    from manuals.library import open_manuals
    from tam.settings import BuildSettings

    out = tmp_path_factory.mktemp(f"sample-{corpus}")
    build(open_manuals(folder), out, BuildSettings(encoder="hash"), (corpus,))  # type: ignore[arg-type]
    return out / corpus


@pytest.fixture(scope="session")
def sample_icd_index(sample_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample's ICD-10-CM manuals, hash encoder."""
    return _sample_index(sample_manuals, "icd", tmp_path_factory)


@pytest.fixture(scope="session")
def sample_legal_index(sample_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the sample's legal manuals, hash encoder."""
    return _sample_index(sample_manuals, "legal", tmp_path_factory)
