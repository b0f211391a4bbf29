"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
def real_cases() -> Path:
    """The small cases with answers: ``TAM_REAL_CASES`` or ``../shared/cases``."""
    return _real("TAM_REAL_CASES", ROOT.parent / "shared" / "cases", "cases")
