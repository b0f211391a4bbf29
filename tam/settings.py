"""The settings of a build: what decides the content of an index."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Annotated, Any

from tam.errors import BadOption
from tam.models import DEFAULT_ENCODER
from tam.options import Option, options

#: ``paper`` follows the paper's rules, ``sections`` the manuals' own sections
PRESETS = ("paper", "sections")
#: older name -> name; understood wherever one is typed or stored
PRESET_ALIASES = {"tam": "paper"}
BM25_VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
DTYPES = ("auto", "float32", "bfloat16")
STATISTICS = ("index", "source")
STEMMERS = ("english", "none")
STOPWORDS = ("english", "none")

_TOKENS = "TOKENS"


@options
class BuildSettings:
    """All choices of a build; equal settings and manuals give an equal index.

    ``encoder`` is ``None`` for an index without vectors. ``legs`` names legs that are built when
    asked for, each with what it needs to know after an equals sign (``splade=FOLDER``).
    Raises ``BadOption`` for a value that is not allowed.
    """

    preset: Annotated[
        str, Option("How manuals are cut into chunks.", PRESETS, aliases=PRESET_ALIASES)
    ] = PRESETS[0]
    target: Annotated[
        int, Option("Size of a chunk (preset sections).", low=32, high=10**6, metavar=_TOKENS)
    ] = 256
    bound: Annotated[
        int, Option("Largest chunk (preset sections).", low=32, high=10**6, metavar=_TOKENS)
    ] = 512
    encoder: Annotated[
        str | None,
        Option(
            "A sentence-transformers model or folder; 'hash' or 'wordllama' need no torch.",
            metavar="NAME",
        ),
    ] = DEFAULT_ENCODER
    windows: Annotated[
        bool,
        Option(
            "Embed long chunks as overlapping windows, or cut them off as the paper does.",
            switch=True,
        ),
    ] = True
    overlap: Annotated[
        int, Option("Tokens that windows share.", low=0, high=10_000, metavar=_TOKENS)
    ] = 64
    dtype: Annotated[
        str, Option("Arithmetic of the encoder on documents; auto measures.", DTYPES)
    ] = "auto"
    batch_size: Annotated[int, Option("Texts encoded together.", low=1, high=4096)] = 32
    variant: Annotated[
        str, Option("Formula of BM25.", BM25_VARIANTS, title="BM25 variant", flag="--bm25")
    ] = "lucene"
    k1: Annotated[float, Option("BM25: how fast repeats saturate.", low=0.0, high=100.0)] = 1.5
    b: Annotated[float, Option("BM25: how much length counts.", low=0.0, high=1.0)] = 0.75
    stemmer: Annotated[str, Option("Of BM25's terms.", STEMMERS)] = "english"
    stopwords: Annotated[str, Option("Left out of BM25.", STOPWORDS, title="stop words")] = (
        "english"
    )
    statistics: Annotated[str, Option("Of what BM25 takes rarity and mean length.", STATISTICS)] = (
        "index"
    )
    lines: Annotated[bool, Option("Index each line of a chunk by itself too.")] = False
    expand_documents: Annotated[
        bool, Option("Index chunks with the manuals' own synonyms too.")
    ] = False
    legs: Annotated[
        tuple[str, ...],
        Option("Build this leg too; may be given twice.", many=True, flag="--leg", metavar="LEG"),
    ] = ()

    def __post_init__(self) -> None:
        if self.statistics == "source" and self.variant in ("bm25l", "bm25+"):
            raise BadOption(f"statistics 'source' with {self.variant}: choose another variant")
        if self.target > self.bound:
            raise BadOption(
                f"target {self.target} is out of range; it must be from 32 to {self.bound}"
            )
        if self.encoder is not None and not self.encoder.strip():
            raise BadOption("encoder: the name is empty; give a model name, a folder or 'hash'")

    def record(self) -> dict[str, Any]:
        """The settings as JSON values; ``settings_of`` is the way back."""
        return {**asdict(self), "legs": list(self.legs)}


def preset_name(name: str) -> str:
    """The preset that a name means. Raises ``BadOption``."""
    name = PRESET_ALIASES.get(name, name)
    if name not in PRESETS:
        raise BadOption(f"preset {name!r} is not known; choose one of {', '.join(PRESETS)}")
    return name


def settings_of(record: dict[str, Any]) -> BuildSettings:
    """The settings that ``BuildSettings.record`` gave. Raises ``BadOption``."""
    known = {field.name for field in fields(BuildSettings)}
    unknown = sorted(set(record) - known)
    if unknown:
        raise BadOption(f"unknown build settings: {', '.join(unknown)}")
    return BuildSettings(**{**record, "legs": tuple(record.get("legs", ()))})
