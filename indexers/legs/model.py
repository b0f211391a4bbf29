"""What the project knows of a leg: one ``Leg`` object, registered by its package.

An entry point of group ``tam.legs`` names the object; ``docs/guides/leg.md`` shows one from the
first line to a search. Nothing outside a leg's own folder knows which legs there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from chunkers.model.chunk import Chunk
from indexers.encoders.base import Encoder
from indexers.folder.manifest import EditionRows, Manifest
from indexers.folder.table import ChunkTable
from indexers.legs.ranking import RankedRows, Rows, Scores
from tam.errors import BadOption
from tam.fingerprints import code_around, code_of, versions
from tam.plugins import Registry
from tam.settings import BuildSettings

if TYPE_CHECKING:
    # It loads the parsers, which a search does not need.
    from manuals.library.editions import Library
from manuals.apply.names import UnitName

Floats = npt.NDArray[np.float32]
#: what a leg takes of a query beside its text: how its terms count; the encoder's vector of it
Need = Literal["terms", "vector"]


@dataclass(frozen=True, slots=True)
class TermRule:
    """How a query's terms count.

    ``distinct``: a term that the query repeats counts once, not as often. ``local``: its idf is
    that of the editions searched, not of the whole index, in which a word of the Tabular List is
    made common by the Index, the tables and the other years.
    """

    distinct: bool = False
    local: bool = False


PLAIN = TermRule()


@dataclass(frozen=True, slots=True)
class Queries:
    """The texts that a leg ranks for, and what its ``needs`` ask of them.

    ``encode`` gives the index's encoder's vectors (queries, dim); each text is encoded once for
    all legs and indexes that share the encoder.
    """

    texts: Sequence[str]
    rule: TermRule
    encode: Callable[[Sequence[str]], Floats]


@dataclass(frozen=True, eq=False)
class Allowed:
    """The rows of some editions, in order, of which ``mask`` (if any) keeps a part.

    A leg scores the slices as a whole; ``keep`` cuts the scores down to the allowed rows.
    """

    editions: tuple[EditionRows, ...]
    slices: tuple[slice, ...]
    mask: npt.NDArray[np.bool_] | None = None

    @cached_property
    def rows(self) -> Rows:
        """The allowed rows, ascending."""
        parts = [np.arange(part.start, part.stop, dtype=np.int64) for part in self.slices]
        rows = np.concatenate(parts) if parts else np.empty(0, np.int64)
        return rows if self.mask is None else rows[self.mask]

    def keep(self, scores: Scores) -> Scores:
        """Of scores (..., rows of the slices) those of the allowed rows."""
        return scores if self.mask is None else scores[..., self.mask]

    def __contains__(self, row: int) -> bool:
        at = int(np.searchsorted(self.rows, row))
        return at < len(self.rows) and int(self.rows[at]) == row

    def __len__(self) -> int:
        return len(self.rows)


class Ranker(Protocol):
    """An opened leg."""

    def rank(self, queries: Queries, allowed: Allowed, depth: int) -> Iterable[RankedRows]:
        """For each query the first ``depth`` of the allowed rows, in the total order of
        ``indexers.legs.ranking.top_rows``. The first places must not change with the depth."""
        ...


class OpenedIndex(Protocol):
    """What a leg sees of the index that it is opened in."""

    @property
    def path(self) -> Path: ...
    @property
    def manifest(self) -> Manifest: ...
    @property
    def chunks(self) -> ChunkTable: ...
    def ranker(self, name: str) -> Ranker:
        """Another leg of the index, opened."""
        ...


class BuildContext(Protocol):
    """What a build gives to a leg: the chunks of an index in the order of its rows.

    ``texts`` are what is indexed of the chunks (``settings.expand_documents`` adds to their own
    text), ``lines`` the short units of each, ``names`` what the
    unit that a row begins is called; ``library`` holds the parsed editions, and
    ``table`` the chunks by row, key and edition.
    """

    @property
    def settings(self) -> BuildSettings: ...
    @property
    def editions(self) -> Sequence[EditionRows]: ...
    @property
    def library(self) -> Library: ...
    @property
    def table(self) -> ChunkTable: ...
    @property
    def chunks(self) -> Sequence[Chunk]: ...
    @property
    def texts(self) -> Sequence[str]: ...
    @property
    def lines(self) -> Sequence[Sequence[str]]: ...
    @property
    def names(self) -> Sequence[Sequence[UnitName]]: ...
    @property
    def encoder(self) -> Encoder | None: ...
    def vectors(self, texts: Sequence[str]) -> Floats:
        """(n, dim): unit vectors of texts, zero for an empty one; each different text is encoded
        once for all indexes that share the cache. Without an encoder raises ``BadOption``."""
        ...

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Counts the seconds of the block under a name."""
        ...


def blocks_of(editions: Sequence[EditionRows]) -> list[int]:
    """The rows at which editions begin, with the number of rows at the end."""
    return [*(edition.start for edition in editions), editions[-1].stop if editions else 0]


class Leg(ABC):
    """One way to rank.

    | attribute | what |
    |---|---|
    | ``name``, ``title`` | as options and hits write it; in words |
    | ``order`` | its place among the legs of a retriever |
    | ``aliases`` | other names that are accepted |
    | ``needs`` | what its ranker takes of a query beside the text |
    | ``level`` | ``passage``: ranks chunks; ``unit``: ranks units, each at one row |
    | ``weight`` | what it counts in a search by units, where no weight is given |
    | ``reads`` | the leg by whose part it ranks, when it has none of its own |
    | ``folder`` | where its part lies in an index folder; by default ``legs/<name>`` |
    | ``files`` | the files that its part cannot do without |
    | ``build_settings`` | fields of ``BuildSettings`` that decide its part |
    | ``libraries`` | distributions whose version decides its part |
    | ``uses`` | modules and packages, beside its own folder, whose code decides its part |
    | ``lacking`` | what an index without the part was built without, and what to do then |
    """

    name: str
    title: str
    order: int = 100
    aliases: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()
    level: Literal["passage", "unit"] = "passage"
    weight: float = 1.0
    reads: str = ""
    folder: str = ""
    files: tuple[str, ...] = ()
    build_settings: frozenset[str] = frozenset()
    libraries: tuple[str, ...] = ("numpy",)
    uses: tuple[str, ...] = ()
    lacking: tuple[str, str] = ("", "")

    @property
    def place(self) -> str:
        """Where its part lies in an index folder."""
        return self.folder or f"legs/{self.name}"

    @property
    def part(self) -> str:
        """The name of the leg whose part of an index this one ranks by."""
        return self.reads or self.name

    def absent(self, retriever: str) -> str:
        """What to say of an index without this leg's part."""
        what, remedy = self.lacking
        what, remedy = what or f"the leg {self.name}", remedy or f"build with  --leg {self.name}"
        return f"built without {what}, which the retriever {retriever} needs; {remedy}"

    def option(self, settings: BuildSettings) -> str | None:
        """What ``BuildSettings.legs`` say of this leg after ``name=``; ``None`` when it is not
        asked for."""
        for asked in settings.legs:
            name, _, value = asked.partition("=")
            if name in (self.name, *self.aliases):
                return value
        return None

    def wanted(self, settings: BuildSettings) -> bool:
        """Whether a build with these settings makes this leg's part: by default when it is asked
        for by name."""
        return not self.reads and self.option(settings) is not None

    def fingerprint(self, settings: BuildSettings, encoder: Encoder | None) -> dict[str, Any]:
        """All that decides the part but the chunks, as JSON values."""
        module = type(self).__module__
        record: dict[str, Any] = {
            "leg": self.name,
            "code": [code_around(module), *map(code_of, ("indexers.legs.tokenise", *self.uses))],
            "settings": {name: getattr(settings, name) for name in sorted(self.build_settings)},
            "option": self.option(settings),
            "libraries": versions(self.libraries),
        }
        if "vector" in self.needs and encoder is not None:
            record["encoder"] = [encoder.fingerprint, encoder.dtype, encoder.batch_size]
            record["libraries"] |= versions(encoder.libraries)
        return record

    @abstractmethod
    def build(self, context: BuildContext, folder: Path) -> Mapping[str, Any]:
        """Write the part into an empty folder; returns counts to be kept with it: at least
        ``rows``, the number of chunks."""

    @abstractmethod
    def open(self, index: OpenedIndex, folder: Path) -> Ranker:
        """The ranker over a part. Raises ``BadIndex`` when its files are missing or damaged."""

    def faults(self, ranker: Any, manifest: Manifest) -> Iterator[str]:
        """What is wrong with an opened part beside changed files, one line each."""
        return iter(())


LEGS: Registry[Leg] = Registry("tam.legs", "leg")


def leg_of(name: str) -> Leg:
    """The leg of a name or alias. Raises ``BadOption`` with the names that there are."""
    for leg in LEGS.values():
        if name in leg.aliases:
            return leg
    return LEGS[name]


def check_legs(settings: BuildSettings) -> None:
    """Raises ``BadOption`` when a build is asked for a leg that is not known or makes nothing."""
    for asked in settings.legs:
        leg = leg_of(asked.partition("=")[0])
        if not leg.wanted(settings):
            raise BadOption(f"leg {leg.name} is not built by itself; leave it out of --leg")
