"""No source is known by its name outside the rooms of the plug-ins."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from manuals.model.source import SOURCES

ROOT = Path(__file__).resolve().parents[1]
STAGES = ("manuals", "chunkers", "indexers", "retrievers")
FAMILIES = ("icd10cm", "uscode", "ussg")
#: names that are words of the language or of options too: compared only where a source stands
WORDS = {"index"}


def files() -> list[Path]:
    """The files outside the rooms: a room is a folder or a file with the family's name."""
    return [
        path
        for stage in (*STAGES, "eval/queries")
        for path in sorted((ROOT / stage).rglob("*.py"))
        if not set(FAMILIES) & {*path.relative_to(ROOT).parts, path.stem}
    ]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_quoted_name(path: Path) -> None:
    names = (set(SOURCES) | set(FAMILIES)) - WORDS
    tree = ast.parse(path.read_text(encoding="utf-8"))
    quoted = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)} & names
    compared = {
        node.value
        for comparison in ast.walk(tree)
        if isinstance(comparison, ast.Compare) and re.search(r"\bsource\b", ast.dump(comparison))
        for node in ast.walk(comparison)
        if isinstance(node, ast.Constant)
    } & WORDS
    assert not quoted | compared, f"{path} knows {sorted(quoted | compared)} by name"
