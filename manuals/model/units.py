"""Whole sections and their parts, by their keys: the unit that a part belongs to, and what in a
unit is not the law's or the Commission's text but the editor's apparatus."""

from __future__ import annotations

import re

#: source -> keys of the editor's apparatus
_APPARATUS = {
    "title18": re.compile(r" (?:Notes|Source Credit|Footnotes)(?: > .*)?(?:#\d+)?$", re.DOTALL),
    "ussg": re.compile(r" Historical Note(?:#\d+)?$"),
}
#: the section or guideline that a key of a part belongs to
_UNITS = {
    "title18": re.compile(r"18 U\.S\.C\. § [^\s(#]+"),
    "ussg": re.compile(r"§[^\s(#]+"),
}
_VERSION = re.compile(r"#\d+$")


def is_apparatus(source: str, key: str) -> bool:
    """Whether a key is of an editor's note, credit, footnote or historical note."""
    pattern = _APPARATUS.get(source)
    return pattern is not None and pattern.search(key) is not None


def unit_key(source: str, key: str) -> str:
    """The whole section of Title 18 or guideline that a key is of a part of.

    An editor's note stays apart from it; in all other manuals each section is one by itself.
    """
    pattern = _UNITS.get(source)
    found = pattern.match(key) if pattern else None
    if found is None or is_apparatus(source, key):
        return key
    version = _VERSION.search(key)
    return found.group() + (version.group() if version else "")
