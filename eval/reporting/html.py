"""Self-contained HTML pages from the templates beside this file: no script, nothing from a network.

Every text is escaped where it goes in; only ``markupsafe.Markup`` is taken as it is. A name that a
template does not get is an error. Equal content gives equal bytes: a page has no date of its own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from tam.files import write_text

TEMPLATES = Path(__file__).with_name("templates")


def anchor(text: str) -> str:
    """The fragment of a heading with this text."""
    return re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["anchor"] = anchor
    return made


def render(template: str, **values: Any) -> str:
    """A template of the folder ``templates`` with its values."""
    return _environment().get_template(template).render(values)


def write_page(path: Path, template: str, **values: Any) -> None:
    """Write a page, complete or not at all."""
    write_text(path, render(template, **values))
