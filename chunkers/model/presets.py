"""Presets: for each manual, the rule that cuts it.

``tam`` follows the paper's rules; ``sections`` follows the manual's own sections and the sizes
asked for. A rule's module is imported when it is first asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from chunkers.model.chunk import Chunk, Piece
from chunkers.model.cut import Cutter, Sizes
from chunkers.model.finish import finish
from chunkers.model.tokens import count_tokens
from manuals.model.sections import SOURCES, Manual
from tam.errors import BadOption
from tam.models import DEFAULT_ENCODER

PRESETS = ("tam", "sections")
DEFAULT_PRESET = "tam"

#: source -> family of rules: the four index-like files share one
FAMILIES: Mapping[str, str] = MappingProxyType(
    {
        source: "index" if source in {"index", "eindex", "drugs", "neoplasm"} else source
        for source in SOURCES
    }
)

_ROOMS = {"title18": "uscode", "ussg": "ussg"}
_MODULES = {
    (preset, family): (
        f"chunkers.{_ROOMS[family]}.{rule}"
        if family in _ROOMS
        else f"chunkers.icd10cm.{rule}_{family}"
    )
    for family in FAMILIES.values()
    for preset, rule in (("tam", "paper"), ("sections", "sections"))
}


def pieces_for(preset: str, source: str) -> Callable[..., Iterator[Piece]]:
    """The rule of a preset for a source.

    In preset ``tam`` it takes ``(manual)``, in ``sections`` ``(manual, cutter)``. Raises
    ``BadOption`` for a preset or source that we do not know.
    """
    if preset not in PRESETS:
        raise BadOption(f"preset {preset!r} is not known; choose one of {', '.join(PRESETS)}")
    if source not in FAMILIES:
        raise BadOption(f"source {source!r} is not known; choose one of {', '.join(FAMILIES)}")
    module = importlib.import_module(_MODULES[preset, FAMILIES[source]])
    rule: Callable[..., Iterator[Piece]] = module.pieces
    return rule


def chunk_manual(
    manual: Manual,
    preset: str = DEFAULT_PRESET,
    sizes: Sizes | None = None,
    encoder: str = DEFAULT_ENCODER,
) -> list[Chunk]:
    """All chunks of one edition, in document order.

    ``sizes`` (in tokens of ``encoder``) matter to preset ``sections`` only; ``encoder``'s
    tokenizer also counts the chunks' tokens. Raises ``BadOption``.
    """
    rule = pieces_for(preset, manual.source)
    if preset == "tam":
        pieces = rule(manual)
    else:
        pieces = rule(manual, Cutter(manual.text, sizes or Sizes(), encoder))
    return finish(manual, pieces, lambda texts: count_tokens(texts, encoder))
