"""The record of a reference: where it points and where it was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "code",  # E11.22
    "code_range",  # E08-E13: a block of the Tabular List, or any span of categories
    "chapter",  # Chapter 4 of the Tabular List
    "index_path",  # Abscess > brain; Letter A
    "guideline_section",  # I.C.2.e.1; Appendix I
    "statute",  # 18 U.S.C. § 922(g)(1)
    "statute_group",  # 18 U.S.C. Part I; 18 U.S.C. Chapter 44
    "guideline",  # §2K2.1(b)(4)
    "guideline_group",  # USSG Chapter 2, Part K
    "appendix_a",  # Appendix A; Appendix A > 18 U.S.C. § 924(c)
]

SOURCES_OF: dict[Kind, tuple[str, ...]] = {
    "code": ("tabular",),
    "code_range": ("tabular",),
    "chapter": ("tabular",),
    "index_path": ("index", "eindex", "drugs", "neoplasm"),
    "guideline_section": ("guidelines",),
    "statute": ("title18",),
    "statute_group": ("title18",),
    "guideline": ("ussg",),
    "guideline_group": ("ussg",),
    "appendix_a": ("ussg",),
}


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference to a unit of a manual, in normal form.

    ``key`` is the unit's key (``18 U.S.C. § 922``, ``§2K2.1``, ``E11.22``); ``subdivisions`` what
    follows it in parentheses (``("g", "1")``); ``part`` a subheading below (``Notes``,
    ``Application Note 3``); ``version`` the ``#2`` of a second section under one number.
    ``sources`` are the manuals that can hold it: none for a statute outside Title 18 (Appendix A
    has its row under ``appendix_key``). ``span`` are offsets in the text that was read, ``text``
    that slice. The first end of a range names the last in ``through`` (a full key); both ends are
    references of their own, except ``code_range``, which is one reference.
    """

    kind: Kind
    key: str
    subdivisions: tuple[str, ...] = ()
    part: str = ""
    version: int = 1
    sources: tuple[str, ...] = ()
    span: tuple[int, int] = (0, 0)
    text: str = ""
    through: str = ""

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

    @property
    def appendix_key(self) -> str:
        """For a statute, the key of its row in Appendix A; else the full key."""
        return f"Appendix A > {self.full_key}" if self.kind == "statute" else self.full_key
