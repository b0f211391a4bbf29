"""Where in a chunk's text the section stands that a query names."""

from __future__ import annotations

from chunkers.model.chunk import JOINT, Chunk
from manuals.model.sections import Manual, Section
from manuals.model.units import is_apparatus

Span = tuple[int, int]

#: characters, white space left out, by which the section's beginning is looked for; a page's head
#: or a broken word can stand among the first ones, so shorter beginnings follow
_BEGINNINGS = (80, 40, 20, 10)


def named_span(chunk: Chunk, manual: Manual, key: str) -> Span | None:
    """The stretch ``[start, end)`` of the chunk's text that holds the section ``key``.

    Presets change white space and page furniture only, so the section's text is looked for
    without white space. ``None`` when the section is not there, or not in this chunk.
    """
    section = manual.by_key.get(key)
    if section is None:
        return None
    low, high = _own_span(manual, section)
    low, high = max(low, chunk.text_span[0]), min(high, chunk.text_span[1])
    wanted = _squeezed(manual.text[low:high])
    head = len(chunk.text) - len(chunk.text.partition(JOINT)[2] or chunk.text)
    places = [at for at in range(head, len(chunk.text)) if not chunk.text[at].isspace()]
    held = "".join(chunk.text[at] for at in places)
    for size in _BEGINNINGS:
        start = held.find(wanted[:size]) if wanted else -1
        if start >= 0:
            end = min(start + len(wanted), len(places))
            return places[start], places[end - 1] + 1
    return None


def _own_span(manual: Manual, section: Section) -> Span:
    """The section's span up to the first of its editor's notes."""
    low, high = section.span
    for child in manual.children(section):
        if is_apparatus(manual.source, child.key):
            high = min(high, child.span[0])
    return low, high


def _squeezed(text: str) -> str:
    return "".join(text.split())
