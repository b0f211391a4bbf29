"""Presets: for each manual, the rule that cuts it.

``paper`` follows the paper's rules; ``sections`` follows the manual's own sections and the sizes
asked for. A rule's module is imported when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chunkers.model.chunk import Chunk, Piece
from chunkers.model.cut import Cutter, Sizes
from chunkers.model.finish import finish
from chunkers.model.tokens import count_tokens
from manuals.model.sections import Manual
from manuals.model.source import SOURCES
from tam.errors import BadOption
from tam.models import DEFAULT_ENCODER
from tam.settings import PRESETS, preset_name


def pieces_for(preset: str, source: str) -> Callable[..., Iterator[Piece]]:
    """The rule of a preset for a source.

    In preset ``paper`` it takes ``(manual)``, in ``sections`` ``(manual, cutter)``. Raises
    ``BadOption`` for a preset or source that we do not know.
    """
    rules = SOURCES[source].chunk_rules
    preset = preset_name(preset)
    if preset not in rules:
        raise BadOption(
            f"source {source!r} has no rule for preset {preset!r}; choose one of {', '.join(rules)}"
        )
    return rules[preset]


def chunk_manual(
    manual: Manual,
    preset: str = PRESETS[0],
    sizes: Sizes | None = None,
    encoder: str = DEFAULT_ENCODER,
) -> list[Chunk]:
    """All chunks of one edition, in document order.

    ``sizes`` (in tokens of ``encoder``) matter to preset ``sections`` only; ``encoder``'s
    tokenizer also counts the chunks' tokens. Raises ``BadOption``.
    """
    rule = pieces_for(preset, manual.source)
    if preset_name(preset) == "sections":
        pieces = rule(manual, Cutter(manual.text, sizes or Sizes(), encoder))
    else:
        pieces = rule(manual)
    return finish(manual, pieces, lambda texts: count_tokens(texts, encoder))
