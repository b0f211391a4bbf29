"""Whole sections and their parts, by their keys: the unit that a part belongs to, and what in a
unit is not the law's or the Commission's text but the editor's apparatus."""

from __future__ import annotations

import re

from manuals.model.source import SOURCES

_VERSION = re.compile(r"#\d+$")


def is_apparatus(source: str, key: str) -> bool:
    """Whether a key is of an editor's note, credit, footnote or historical note."""
    pattern = SOURCES[source].apparatus
    return pattern is not None and pattern.search(key) is not None


def unit_key(source: str, key: str) -> str:
    """The whole section that a key is of a part of, where the source has such units.

    An editor's note stays apart from it; in all other manuals each section is one by itself.
    """
    pattern = SOURCES[source].unit
    found = pattern.match(key) if pattern else None
    if found is None or is_apparatus(source, key):
        return key
    version = _VERSION.search(key)
    return found.group() + (version.group() if version else "")
