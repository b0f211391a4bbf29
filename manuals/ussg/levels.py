"""Levels of a guideline's subsections: (a) (1) (A) (i), told by sequence and indentation."""

from __future__ import annotations

from manuals.uscode.enumeration import Placement, ordinals
from manuals.ussg.blocks import Block

_FORMS = {"lower": 0, "number": 1, "upper": 2, "roman": 3, "Roman": 4, "double": 5}
#: points by which indents of one level differ at most
_ALIGNED = 6.0


class Levels:
    """The open levels while a guideline's paragraphs are read in order."""

    def __init__(self) -> None:
        self._placement = Placement()
        self._places: list[float] = []

    def names(self, depth: int) -> list[str]:
        """The enumerators from the outermost level to this depth."""
        return self._placement.names[: depth + 1]

    def has_numerals(self, depth: int | None = None) -> bool:
        """Whether a level of (i), (ii) or (I), (II) is open (down to this depth)."""
        forms = self._placement.forms
        return bool({"roman", "Roman"} & set(forms if depth is None else forms[: depth + 1]))

    def place(self, name: str, x: float, compound: bool) -> int:
        """The depth of an enumerator; indentation closes levels that stand further right."""
        order = max((_FORMS[form] for form in ordinals(name)), default=0)
        placed = self._placement
        while placed.forms and not compound:
            top = _FORMS[placed.forms[-1]]
            # A list that begins anew at the same indent is no part of the last item.
            anew = (
                name in ("a", "1", "A", "i") and abs(self._places[-1] - x) <= _ALIGNED and top > 0
            )
            if not anew and (top < order or self._places[-1] <= x + _ALIGNED):
                break
            del placed.names[-1], placed.forms[-1], self._places[-1]
        depth = placed.place(name, compound)
        del self._places[depth:]
        self._places.append(x)
        return depth

    def reach_of(self, block: Block, depth: int) -> int | None:
        """The level, up to ``depth``, that ends before a paragraph without enumerator.

        It belongs to the level at whose text it is set. A table or list can reach out of its own.
        """
        table = block.first.cells > 1 or block.first.joint == "\n"
        if table or (self._places and block.x0 < self._places[0] - _ALIGNED):
            return None
        ends = (n for n, x in enumerate(self._places[:depth]) if block.x0 <= x + _ALIGNED)
        return next(ends, None)
