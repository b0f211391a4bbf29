"""What decides content besides manuals and settings: source code and versions of libraries."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tam.files import sha256_file

#: data files that are as good as code
_PATTERNS = ("*.py", "*.toml", "*.json", "*.tsv")


def fingerprint(record: Any) -> str:
    """sha256 of a value of JSON types, in hex."""
    text = json.dumps(record, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def code_of(name: str) -> str:
    """sha256 over the code of a module, or of a package and all that is below it.

    Names inside the folder count and where the folder lies does not.
    """
    spec = importlib.util.find_spec(name)
    if spec is None:
        return "absent"
    places = list(spec.submodule_search_locations or ())
    digest = hashlib.sha256()
    if not places and spec.origin:
        digest.update(sha256_file(Path(spec.origin)).encode())
    for folder in map(Path, places):
        files = {file for pattern in _PATTERNS for file in folder.rglob(pattern)}
        for file in sorted(files):
            digest.update(f"{file.relative_to(folder).as_posix()}\0{sha256_file(file)}\n".encode())
    return digest.hexdigest()


def code_around(module: str) -> str:
    """``code_of`` the package that a module is in, or of a module that is in none."""
    return code_of(module.rpartition(".")[0] or module)


def versions(distributions: Iterable[str]) -> dict[str, str]:
    """The installed version of each distribution; ``absent`` where there is none."""
    found = {}
    for name in distributions:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found
