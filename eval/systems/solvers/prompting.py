"""The prompts: Jinja2 files of this package, with the hash that a run records."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

from tam.errors import MissingExtra

FOLDER = Path(__file__).parent / "prompts"


@lru_cache(maxsize=1)
def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra("jinja2", "llm", "an end-to-end run") from error
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


def render(name: str, **values: Any) -> str:
    """The prompt ``name`` with its values. A value that is missing is a fault of ours."""
    text: str = _environment().get_template(f"{name}.j2").render(**values)
    return text.strip()


def prompt_hashes() -> dict[str, str]:
    """The sha256 of each prompt and skill file, by its path below the folder."""
    return {
        path.relative_to(FOLDER).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(FOLDER.rglob("*"))
        if path.is_file()
    }
