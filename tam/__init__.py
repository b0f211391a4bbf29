"""Retrieval over application manuals: ICD-10-CM, Title 18 and the Sentencing Guidelines.

The public names are loaded on first use, so that ``import tam`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tam._version import __version__

if TYPE_CHECKING:
    from chunkers.model.chunk import Chunk
    from manuals.library.editions import Library, open_manuals
    from manuals.model.keys import find_references, parse_reference
    from manuals.model.sections import Edition, Manual, Section
    from retrievers.search.hits import Hit
    from retrievers.search.index import Index, open_index
    from tam.errors import TamError

_PUBLIC = {
    "Chunk": "chunkers.model.chunk",
    "Edition": "manuals.model.sections",
    "Hit": "retrievers.search.hits",
    "Index": "retrievers.search.index",
    "Library": "manuals.library.editions",
    "Manual": "manuals.model.sections",
    "Section": "manuals.model.sections",
    "TamError": "tam.errors",
    "find_references": "manuals.model.keys",
    "open_index": "retrievers.search.index",
    "open_manuals": "manuals.library.editions",
    "parse_reference": "manuals.model.keys",
}

__all__ = [
    "Chunk",
    "Edition",
    "Hit",
    "Index",
    "Library",
    "Manual",
    "Section",
    "TamError",
    "__version__",
    "find_references",
    "open_index",
    "open_manuals",
    "parse_reference",
]


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'tam' has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
