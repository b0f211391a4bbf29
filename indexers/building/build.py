"""Building: a library of manuals into one index folder for each corpus.

An index is built beside its place and moved there when it is complete. Vectors, which cost most,
are kept in ``<out>/.cache`` and shared by all indexes below ``out`` (or in another folder, shared
by the indexes of several places).
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chunkers.model.chunk import Chunk
from chunkers.model.store import write_chunks
from indexers.building.context import Context
from indexers.building.expansion import EXPANDED_WITH
from indexers.building.inputs import shared_code, sources_record, taken_part
from indexers.building.links import build_links
from indexers.building.parsing import Failed, Parse, parse_all
from indexers.encoders.base import Encoder, open_encoder
from indexers.encoders.vectors import VectorCache, waiting_lock
from indexers.folder.manifest import (
    FORMAT,
    NAME,
    EditionRows,
    EncoderRecord,
    Manifest,
    Part,
    file_hashes,
    read_manifest,
    write_manifest,
    write_part,
)
from indexers.folder.table import CHUNKS
from indexers.legs.bm25.leg import LEG as TERMS
from indexers.legs.bm25.scores import Bm25
from indexers.legs.model import LEGS, Leg, check_legs
from manuals.library.editions import Library
from manuals.library.store import edition_record
from manuals.model.sections import Edition
from manuals.model.source import SOURCES, check_corpus, in_corpus
from manuals.model.source import corpora as all_corpora
from tam._version import __version__
from tam.errors import BadIndex, ManualError
from tam.files import replacing_folder, write_json
from tam.fingerprints import fingerprint
from tam.progress import progress, stage
from tam.settings import BuildSettings

CACHE = ".cache"


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did for one corpus.

    ``built`` is False when the index was as wanted already. ``distinct`` are the different window
    texts of the index, ``encoded`` those that had no vector yet. ``problems`` are editions that
    could not be parsed, one line each. ``seconds`` are by stage.
    """

    manifest: Manifest
    path: Path
    built: bool
    distinct: int = 0
    encoded: int = 0
    problems: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)


def build(
    library: Library,
    out: Path,
    settings: BuildSettings | None = None,
    corpora: Sequence[str] | None = None,
    sample: bool = False,
    strict: bool = False,
    cache: Path | None = None,
    reuse: Sequence[Path] = (),
) -> list[BuildResult]:
    """Build ``out/<corpus>`` for each corpus; by default for those that the library holds.

    Vectors are kept in ``cache``, by default ``out/.cache``. A leg's part that an index in
    ``reuse``, or the one in place, holds already is linked or copied from there.
    An edition that cannot be parsed is left out with a line on stderr, unless ``strict``. Raises
    ``BadOption``, ``ManualError`` when nothing is left, and ``BadIndex`` when the folder cannot
    be written; an index that was there stays as it was.
    """
    settings = settings or BuildSettings()
    check_legs(settings)
    held = {SOURCES[source].corpus for source in library.sources}
    here = [corpus for corpus in all_corpora() if corpus in held]
    for corpus in corpora or ():
        if check_corpus(corpus) not in here:
            raise ManualError(f"no manual of corpus {corpus} here; add one or choose another")
    results = []
    for corpus in corpora or here:
        job = _CorpusBuild(
            library, out, settings, corpus, sample, strict, cache or out / CACHE, tuple(reuse)
        )
        try:
            results.append(job.run())
        except OSError as error:
            raise BadIndex(
                f"{out / corpus}: the index cannot be written ({error.strerror or error}); "
                f"nothing was changed there: free space or choose another folder with --out"
            ) from error
    return results


@dataclass
class _CorpusBuild:
    """The build of one corpus."""

    library: Library
    out: Path
    settings: BuildSettings
    corpus: str
    sample: bool
    strict: bool
    cache: Path
    reuse: tuple[Path, ...]
    problems: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    distinct: int = 0
    encoded: int = 0

    @property
    def path(self) -> Path:
        return self.out / self.corpus

    def run(self) -> BuildResult:
        name = self.settings.encoder
        encoder = open_encoder(name, batch_size=self.settings.batch_size) if name else None
        inputs = self._inputs(encoder)
        lock = self.out / CACHE / f"{self.corpus}.lock"
        with waiting_lock(lock, f"another build of {self.path}"):
            _mend(self.path)
            manifest = self._as_wanted(inputs)
            if manifest is not None:
                return BuildResult(
                    manifest, self.path, built=False, problems=self._left_out(manifest)
                )
            if encoder is not None and self.settings.dtype != "float32":
                encoder = self._with_dtype(encoder)
            with replacing_folder(self.path) as part:
                manifest = self._write(part, inputs, encoder)
        return BuildResult(
            manifest,
            self.path,
            built=True,
            distinct=self.distinct,
            encoded=self.encoded,
            problems=tuple(self.problems),
            seconds=self.seconds,
        )

    @property
    def editions(self) -> list[Edition]:
        own = in_corpus(self.corpus)
        return [edition for edition in self.library.editions if edition.source in own]

    def _inputs(self, encoder: Encoder | None) -> str:
        """The id of the build: one sha256 over everything that decides the content."""
        return fingerprint(
            {
                "format": FORMAT,
                "tool": __version__,
                "code": shared_code(),
                "sources": sources_record({edition.source for edition in self.editions}),
                "settings": self.settings.record(),
                "legs": {
                    leg.name: leg.fingerprint(self.settings, encoder) for leg in self._wanted()
                },
                "editions": [edition_record(edition) for edition in self.editions],
                "sample": self.sample,
            }
        )

    def _wanted(self) -> list[Leg]:
        """The legs that the settings ask for."""
        return [leg for leg in LEGS.values() if leg.wanted(self.settings)]

    def _as_wanted(self, inputs: str) -> Manifest | None:
        """The manifest of the index in place when it was built from the same inputs."""
        try:
            manifest = read_manifest(self.path)
        except BadIndex:
            return None
        if manifest.inputs != inputs:
            return None
        if self.strict and self._left_out(manifest):
            # Parsed again, so that what is wrong is said and stops the build.
            return None
        whole = all((self.path / file).is_file() for file in manifest.files)
        return manifest if whole else None

    def _left_out(self, manifest: Manifest) -> tuple[str, ...]:
        """The editions that could not be parsed when the index was built, one line each."""
        held = {edition.name for edition in manifest.editions}
        return tuple(
            f"{edition.name}: could not be parsed when the index was built; --strict says why"
            for edition in self.editions
            if edition.name not in held
        )

    def _with_dtype(self, encoder: Encoder) -> Encoder:
        """The encoder with the dtype asked for; ``auto`` is measured once for a cache folder."""
        from indexers.encoders.transformer import TransformerEncoder, faster_dtype

        if not isinstance(encoder, TransformerEncoder):
            return encoder
        dtype = self.settings.dtype
        if dtype == "auto":
            path = self.cache / "dtype.json"
            measured: dict[str, str] = {}
            with contextlib.suppress(OSError, ValueError):
                measured = json.loads(path.read_bytes())
            key = f"{encoder.fingerprint} {encoder.batch_size}"
            if measured.get(key) not in ("float32", "bfloat16"):
                with self._stage("measuring dtype"):
                    measured[key] = faster_dtype(encoder)
                write_json(path, measured)
            dtype = measured[key]
        return open_encoder(encoder.name, dtype, encoder.batch_size)

    def _write(self, folder: Path, inputs: str, encoder: Encoder | None) -> Manifest:
        """All files of the index into an empty folder."""
        settings = self.settings
        with self._stage("manuals and chunks"):
            editions, chunks = self._chunks(folder)
            hashes = file_hashes(folder)
        code = [shared_code(), sources_record({edition.source for edition in editions})]
        content = fingerprint([hashes, [[e.name, e.start, e.stop] for e in editions], code])
        cache = VectorCache(self.cache / "vectors", encoder) if encoder else None
        context = Context(folder, settings, chunks, editions, encoder, cache, self._stage)
        parts = {leg.name: self._part(leg, content, context, folder) for leg in self._wanted()}
        bm25 = parts[TERMS.name]
        with self._stage("links"):
            # By way of the files, as a reader of the index sees them.
            terms = Bm25(folder / TERMS.place, TERMS.token_options(settings))
            build_links(folder, context.table, terms, bm25.key)
        record = None
        for part in parts.values():
            if encoder is not None and "windows" in part.counts:
                editions = [
                    replace(edition, windows=windows)
                    for edition, windows in zip(editions, part.counts["windows"], strict=True)
                ]
                record = EncoderRecord(
                    name=encoder.name,
                    fingerprint=encoder.fingerprint,
                    dim=part.counts["dim"],
                    window=encoder.window,
                    dtype=encoder.dtype,
                    batch_size=encoder.batch_size,
                )
        with self._stage("checksums"):
            manifest = Manifest(
                corpus=self.corpus,
                tool=__version__,
                inputs=inputs,
                content=content,
                sample=self.sample,
                settings=settings,
                encoder=record,
                editions=tuple(editions),
                parts=parts,
                files=file_hashes(folder, hashes),
                expanded_with=EXPANDED_WITH if settings.expand_documents else (),
            )
        write_manifest(folder, manifest)
        self.distinct, self.encoded = len(context.distinct), context.encoded
        times = {stage: round(seconds, 3) for stage, seconds in self.seconds.items()}
        done = {"seconds": times, "distinct": self.distinct, "encoded": self.encoded}
        write_json(folder / "build.json", done)
        return manifest

    def _part(self, leg: Leg, content: str, context: Context, folder: Path) -> Part:
        """A leg's part: the one of an index made before, when it would be the same, else built."""
        key = fingerprint([content, leg.fingerprint(self.settings, context.encoder)])
        place = folder / leg.place
        for index in (self.path, *self.reuse):
            part = taken_part(index, leg, key, place)
            if part is not None:
                return part
        place.mkdir(parents=True, exist_ok=True)
        with self._stage(leg.name):
            part = Part(key, dict(leg.build(context, place)))
        write_part(place, part)
        return part

    def _chunks(self, folder: Path) -> tuple[list[EditionRows], list[Chunk]]:
        """Parse, save and chunk every edition, in the order of the rows; write the chunks."""
        rows: list[EditionRows] = []
        chunks: list[Chunk] = []
        what = f"{self.corpus}: parsing and chunking"
        parsed = parse_all(Parse(self.library, self.settings, folder / "manuals"), self.editions)
        for found in progress(parsed, what, len(self.editions), "editions"):
            if isinstance(found, Failed):
                if self.strict:
                    raise found.error
                print(f"tam: {found.edition.name} is left out: {found.error}", file=sys.stderr)
                self.problems.append(f"{found.edition.name}: {found.error}")
                continue
            edition, new = found
            rows.append(_edition_rows(edition, len(chunks), new))
            chunks.extend(new)
        if not chunks:
            raise ManualError(f"no chunk could be made for corpus {self.corpus}; see above")
        write_chunks(chunks, folder / CHUNKS)
        return rows, chunks

    @contextlib.contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        inner, begin = sum(self.seconds.values()), time.perf_counter()
        with stage(f"{self.corpus}: {name}"):
            yield
        # Stages inside this one count for themselves.
        inner = sum(self.seconds.values()) - inner
        own = max(0.0, time.perf_counter() - begin - inner)
        self.seconds[name] = self.seconds.get(name, 0.0) + own


def _edition_rows(edition: Edition, start: int, chunks: Sequence[Chunk]) -> EditionRows:
    return EditionRows(
        source=edition.source,
        year=edition.year,
        title=edition.title,
        release=edition.release,
        effective_from=edition.effective_from,
        effective_to=edition.effective_to,
        files=edition.files,
        problems=edition.problems,
        start=start,
        stop=start + len(chunks),
        windows=0,
        tokens=sum(chunk.tokens for chunk in chunks),
    )


def _mend(path: Path) -> None:
    """Undo what killed builds left beside an index. The lock of the index is held."""
    for old in sorted(path.parent.glob(f".{path.name}.*.old")):
        # Killed between moving the old index aside and the new one in.
        if not path.exists() and (old / NAME).is_file():
            old.rename(path)
    for pattern in (f".{path.name}.*.part", f".{path.name}.*.old"):
        for left in path.parent.glob(pattern):
            shutil.rmtree(left, ignore_errors=True)
