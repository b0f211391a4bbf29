"""The record of a reference: where it points and where it was read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a unit of a manual, in normal form.

    ``key`` is the unit's key (``18 U.S.C. § 922``, ``§2K2.1``, ``E11.22``); ``subdivisions`` what
    follows it in parentheses (``("g", "1")``); ``part`` a subheading below (``Notes``,
    ``Application Note 3``); ``version`` the ``#2`` of a second section under one number.
    ``sources`` are the manuals that can hold it; a statute outside Title 18 is held by the
    Guidelines Manual, as a row of Appendix A (``appendix_key``). ``span`` are offsets in the text
    that was read, ``text`` that slice. The first end of a range names the last in ``through`` (a
    full key); both ends are references of their own, except ``code_range``, which is one.
    ``guess``: words that are read so because they are nothing else.

    | kind | such as |
    |---|---|
    | ``code``, ``code_range`` | ``E11.22``; ``E08-E13``, a block or any span of categories |
    | ``chapter`` | ``Chapter 4`` of the Tabular List |
    | ``index_path`` | ``Abscess > brain``, ``Letter A`` |
    | ``guideline_section`` | ``I.C.2.e.1``, ``Appendix I`` |
    | ``statute``, ``statute_group`` | ``18 U.S.C. § 922(g)(1)``; ``18 U.S.C. Chapter 44`` |
    | ``guideline``, ``guideline_group`` | ``§2K2.1(b)(4)``; ``USSG Chapter 2, Part K`` |
    | ``appendix_a`` | ``Appendix A > 18 U.S.C. § 924(c)`` |
    """

    kind: str
    key: str
    subdivisions: tuple[str, ...] = ()
    part: str = ""
    version: int = 1
    sources: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    text: str = ""
    through: str = ""
    guess: bool = False

    def _key(self, depth: int, part: str) -> str:
        inner = "".join(f"({name})" for name in self.subdivisions[:depth])
        tail = f" {part}" if part else ""
        version = f"#{self.version}" if self.version > 1 else ""
        return f"{self.key}{inner}{tail}{version}"

    @property
    def full_key(self) -> str:
        """The key of exactly what was named: ``18 U.S.C. § 922(g)(1)``, ``§2K2.1(b)(4)``."""
        return self._key(len(self.subdivisions), self.part)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Keys to look for, from what was named up to its unit.

        ``§2K2.1 Application Note 3`` -> itself, ``§2K2.1 Application Notes``, ``§2K2.1``.
        """
        depth = len(self.subdivisions)
        keys = [self.full_key]
        if self.part.startswith("Application Note "):
            keys.append(self._key(depth, "Application Notes"))
        elif " > " in self.part:
            keys.append(self._key(depth, self.part.split(" > ")[0]))
        keys.extend(self._key(above, "") for above in range(depth, -1, -1))
        return tuple(dict.fromkeys(keys))

    def inside(self, keys: Iterable[str]) -> list[str]:
        """Of these keys those of units between the two ends of a range.

        ``18 U.S.C. §§ 2241-2244`` holds ``18 U.S.C. § 2242`` and ``18 U.S.C. § 2243(a)``. A range
        of subdivisions or notes holds no unit.
        """
        first, last = in_order(self.key), in_order(self.through.partition("(")[0])
        if not last or first[0] != last[0]:
            return []
        own = [(in_order(key.partition("(")[0]), key) for key in keys]
        return [key for place, key in own if first < place < last]

    @property
    def only_in_appendix(self) -> bool:
        """Whether this is a statute of another title than 18: a row of Appendix A."""
        return (
            self.kind == "statute"
            and bool(self.sources)
            and not self.key.startswith("18 U.S.C. § ")
        )

    @property
    def appendix_key(self) -> str:
        """For a statute, the key of its row in Appendix A; else the full key."""
        return f"Appendix A > {self.full_key}" if self.kind == "statute" else self.full_key


def in_order(key: str) -> tuple[tuple[int, str], ...]:
    """A unit's key as something to compare: 9 before 10, 3 before 3A."""
    parts = re.findall(r"\d+|[A-Za-z]+", key)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)
