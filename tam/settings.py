"""The settings of a build: what decides the content of an index."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from tam.errors import BadOption
from tam.models import DEFAULT_ENCODER

#: ``paper`` follows the paper's rules, ``sections`` the manuals' own sections
PRESETS = ("paper", "sections")
#: older name -> name; understood wherever one is typed or stored
PRESET_ALIASES = {"tam": "paper"}
BM25_VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
DTYPES = ("auto", "float32", "bfloat16")
STATISTICS = ("index", "source")
STEMMERS = ("english", "none")
STOPWORDS = ("english", "none")


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """All choices of a build; equal settings and manuals give an equal index.

    ``encoder`` is a model name, a model folder, ``hash`` or ``wordllama``; ``None`` builds BM25
    only. ``windows`` embeds chunks longer than the encoder's window as windows that overlap by
    ``overlap`` tokens, else each chunk is one truncated vector. ``target`` and ``bound`` are chunk
    sizes in tokens (preset ``sections``). ``dtype`` is that of the encoder's arithmetic on
    documents; ``auto`` takes the faster by a short measurement. ``statistics`` are BM25's rarity of
    terms and mean length: of the whole index, or of each source as a collection of its own.
    ``lines`` indexes each line of a
    chunk (a code with its inclusion terms, an index entry, a paragraph) beside the chunk.
    ``expand_documents`` indexes chunks with the manuals' own synonyms too (see
    ``indexers.building.expansion``).
    Raises ``BadOption`` for a value that is not allowed.
    """

    preset: str = PRESETS[0]
    target: int = 256
    bound: int = 512
    encoder: str | None = DEFAULT_ENCODER
    windows: bool = True
    overlap: int = 64
    dtype: str = "auto"
    batch_size: int = 32
    variant: str = "lucene"
    k1: float = 1.5
    b: float = 0.75
    stemmer: str = "english"
    stopwords: str = "english"
    statistics: str = "index"
    lines: bool = False
    expand_documents: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "preset", preset_name(self.preset))
        _one_of("dtype", self.dtype, DTYPES)
        _one_of("BM25 variant", self.variant, BM25_VARIANTS)
        _one_of("stemmer", self.stemmer, STEMMERS)
        _one_of("statistics", self.statistics, STATISTICS)
        if self.statistics == "source" and self.variant in ("bm25l", "bm25+"):
            raise BadOption(f"statistics 'source' with {self.variant}: choose another variant")
        _one_of("stop words", self.stopwords, STOPWORDS)
        _within("target", self.target, 32, self.bound)
        _within("bound", self.bound, self.target, 1_000_000)
        _within("overlap", self.overlap, 0, 10_000)
        _within("batch size", self.batch_size, 1, 4096)
        _within("k1", self.k1, 0.0, 100.0)
        _within("b", self.b, 0.0, 1.0)
        if self.encoder is not None and not self.encoder.strip():
            raise BadOption("encoder: the name is empty; give a model name, a folder or 'hash'")

    def record(self) -> dict[str, Any]:
        """The settings as JSON values; ``settings_of`` is the way back."""
        return asdict(self)


def preset_name(name: str) -> str:
    """The preset that a name means. Raises ``BadOption``."""
    name = PRESET_ALIASES.get(name, name)
    _one_of("preset", name, PRESETS)
    return name


def settings_of(record: dict[str, Any]) -> BuildSettings:
    """The settings that ``BuildSettings.record`` gave. Raises ``BadOption``."""
    known = {field.name for field in fields(BuildSettings)}
    unknown = sorted(set(record) - known)
    if unknown:
        raise BadOption(f"unknown build settings: {', '.join(unknown)}")
    return BuildSettings(**record)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise BadOption(f"{name} {value!r} is not known; choose one of {', '.join(allowed)}")


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise BadOption(f"{name} {value} is out of range; it must be from {low} to {high}")
