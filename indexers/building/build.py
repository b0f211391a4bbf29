"""Building: a library of manuals into one index folder for each corpus.

An index is built beside its place and moved there when it is complete. Vectors, which cost most,
are kept in ``<out>/.cache`` and shared by all indexes below ``out`` (or in another folder, shared
by the indexes of several places).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from chunkers.model.chunk import Chunk
from chunkers.model.store import write_chunks
from indexers.building.expansion import EXPANDED_WITH, expansions
from indexers.building.lines import LINES, build_lines, lines_of
from indexers.building.links import build_links
from indexers.building.parsing import Failed, Parse, parse_all
from indexers.encoders.base import Encoder, Floats, open_encoder
from indexers.encoders.vectors import VectorCache, waiting_lock
from indexers.encoders.windows import Window, WindowOptions, windows
from indexers.folder.manifest import (
    FORMAT,
    NAME,
    EditionRows,
    EncoderRecord,
    Manifest,
    read_manifest,
    write_manifest,
)
from indexers.folder.table import CHUNKS, ChunkTable
from indexers.legs.bm25 import Bm25, build_bm25
from indexers.legs.tokenise import TokenOptions
from manuals.library.editions import Library, load_library
from manuals.library.store import edition_record
from manuals.model.sections import Corpus, Edition
from tam._version import __version__
from tam.errors import BadIndex, BadOption, ManualError
from tam.files import replacing_folder, sha256_file, write_json
from tam.progress import progress
from tam.settings import BuildSettings

CACHE = ".cache"
CORPORA: tuple[Corpus, ...] = ("icd", "legal")


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
    corpora: Sequence[Corpus] | None = None,
    sample: bool = False,
    strict: bool = False,
    cache: Path | None = None,
) -> list[BuildResult]:
    """Build ``out/<corpus>`` for each corpus; by default for those that the library holds.

    Vectors are kept in ``cache``, by default ``out/.cache``.
    An edition that cannot be parsed is left out with a line on stderr, unless ``strict``. Raises
    ``BadOption``, ``ManualError`` when nothing is left, and ``BadIndex`` when the folder cannot
    be written; an index that was there stays as it was.
    """
    settings = settings or BuildSettings()
    here = [corpus for corpus in CORPORA if any(e.corpus == corpus for e in library.editions)]
    for corpus in corpora or ():
        if corpus not in CORPORA:
            raise BadOption(f"corpus {corpus!r} is not known; choose one of {', '.join(CORPORA)}")
        if corpus not in here:
            raise ManualError(f"no manual of corpus {corpus} here; add one or choose another")
    results = []
    for corpus in corpora or here:
        job = _Job(library, out, settings, corpus, sample, strict, cache or out / CACHE)
        try:
            results.append(job.run())
        except OSError as error:
            raise BadIndex(
                f"{out / corpus}: the index cannot be written ({error.strerror or error}); "
                f"nothing was changed there: free space or choose another folder with --out"
            ) from error
    return results


def code_version() -> str:
    """sha256 over the source code of the stages that decide an index's content."""
    digest = hashlib.sha256()
    root = Path(__file__).resolve().parents[2]
    for package in ("manuals", "chunkers", "indexers"):
        for file in sorted((root / package).rglob("*.py")):
            digest.update(f"{file.relative_to(root).as_posix()}\0{sha256_file(file)}\n".encode())
    return digest.hexdigest()


@dataclass
class _Job:
    """The build of one corpus."""

    library: Library
    out: Path
    settings: BuildSettings
    corpus: Corpus
    sample: bool
    strict: bool
    cache: Path
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
        return [edition for edition in self.library.editions if edition.corpus == self.corpus]

    def _inputs(self, encoder: Encoder | None) -> str:
        """One sha256 over everything that decides the content of the index."""
        record = {
            "format": FORMAT,
            "tool": __version__,
            "code": code_version(),
            "settings": self.settings.record(),
            "encoder": encoder.fingerprint if encoder else None,
            "editions": [edition_record(edition) for edition in self.editions],
            "sample": self.sample,
        }
        text = json.dumps(record, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

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
        starts = [edition.start for edition in editions]
        options = TokenOptions(settings.stemmer, settings.stopwords)
        table = ChunkTable(folder / CHUNKS, editions)
        texts = [chunk.text for chunk in chunks]
        if settings.expand_documents:
            with self._stage("expansion"):
                added = expansions(load_library(folder / "manuals"), table, chunks)
            texts = [
                f"{text}\n{more}" if more else text for text, more in zip(texts, added, strict=True)
            ]
        with self._stage("BM25"):
            build_bm25(
                texts,
                [*starts, len(chunks)],
                folder / "bm25",
                options,
                settings.variant,
                settings.k1,
                settings.b,
                _sources(editions) if settings.statistics == "source" else (),
            )
        with self._stage("links"):
            # By way of the files, as a reader of the index sees them.
            build_links(folder, table, Bm25(folder / "bm25", options))
        lines = self._lines(folder, chunks, editions) if settings.lines else []
        record = None
        if encoder is not None:
            if lines:
                self._line_vectors(folder / LINES, lines, encoder)
            window_starts, record = self._dense(folder, chunks, encoder)
            editions = [
                replace(e, windows=int(window_starts[e.stop] - window_starts[e.start]))
                for e in editions
            ]
        with self._stage("checksums"):
            manifest = Manifest(
                corpus=self.corpus,
                tool=__version__,
                code=code_version(),
                inputs=inputs,
                sample=self.sample,
                settings=settings,
                encoder=record,
                editions=tuple(editions),
                files=file_hashes(folder),
                expanded_with=EXPANDED_WITH if settings.expand_documents else (),
            )
        write_manifest(folder, manifest)
        times = {stage: round(seconds, 3) for stage, seconds in self.seconds.items()}
        done = {"seconds": times, "distinct": self.distinct, "encoded": self.encoded}
        write_json(folder / "build.json", done)
        return manifest

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

    def _lines(
        self, folder: Path, chunks: Sequence[Chunk], editions: Sequence[EditionRows]
    ) -> list[list[str]]:
        """The lines of every chunk; writes what is indexed of them but for vectors."""
        library = load_library(folder / "manuals")
        lines: list[list[str]] = []
        with self._stage("lines"):
            for edition in editions:
                manual = library.manual(edition.source, edition.year)
                lines.extend(lines_of(manual, chunks[edition.start : edition.stop]))
            blocks = [*(edition.start for edition in editions), len(chunks)]
            build_lines(folder / LINES, lines, blocks)
        return lines

    def _line_vectors(self, folder: Path, lines: Sequence[Sequence[str]], encoder: Encoder) -> None:
        """The lines' vectors and their FAISS file."""
        from indexers.legs.dense import write_dense

        flat = [line for of_chunk in lines for line in of_chunk]
        vectors = self._encoded(flat, encoder)
        starts = np.concatenate([[0], np.cumsum([len(of_chunk) for of_chunk in lines])])
        # Lines are no stretches of a chunk's text: their spans stay empty.
        write_dense(folder / "dense", vectors, starts, np.zeros((len(flat), 2), np.int32))

    def _encoded(self, texts: Sequence[str], encoder: Encoder) -> Floats:
        """(n, dim): the texts' vectors, from the cache where it has them."""
        wanted = dict.fromkeys(text for text in texts if text)
        self.distinct += len(wanted)
        cache = VectorCache(self.cache / "vectors", encoder)
        with self._stage("encoding"):
            todo = len(cache.missing(wanted))
            what = f"{self.corpus}: encoding"
            for _ in progress(cache.fill(wanted), what, todo, "texts"):
                self.encoded += 1
        with self._stage("vectors"):
            return _vectors(cache, texts)

    def _dense(
        self, folder: Path, chunks: Sequence[Chunk], encoder: Encoder
    ) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], EncoderRecord]:
        """Windows, their vectors and the FAISS file; returns the chunks' window starts."""
        from indexers.legs.dense import write_dense

        with self._stage("windows"):
            cut = list(self._windows(chunks, encoder))
        flat = [window for of_chunk in cut for window in of_chunk]
        texts = [window.text for window in flat]
        vectors = self._encoded(texts, encoder)
        with self._stage("vectors"):
            starts = np.concatenate([[0], np.cumsum([len(of_chunk) for of_chunk in cut])])
            spans = np.asarray([window.span for window in flat], np.int32)
            write_dense(folder / "dense", vectors, starts, spans)
        return starts, EncoderRecord(
            name=encoder.name,
            fingerprint=encoder.fingerprint,
            dim=vectors.shape[1],
            window=encoder.window,
            dtype=encoder.dtype,
            batch_size=encoder.batch_size,
        )

    def _windows(self, chunks: Sequence[Chunk], encoder: Encoder) -> Iterator[list[Window]]:
        """The windows of every chunk; each different text is cut once."""
        options = WindowOptions(self.settings.windows, self.settings.overlap)
        distinct = {(chunk.context, chunk.text): chunk for chunk in chunks}
        cut = progress(
            windows(list(distinct.values()), encoder, options),
            f"{self.corpus}: windows",
            len(distinct),
            "texts",
        )
        of_text = dict(zip(distinct, cut, strict=True))
        for chunk in chunks:
            # A blank text never reaches the encoder; its row is a zero vector.
            yield of_text[chunk.context, chunk.text] or [Window("", (0, 0))]

    @contextlib.contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


def file_hashes(folder: Path) -> dict[str, str]:
    """sha256 of every file of an index but the manifest and the times, by path inside it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = {path.relative_to(folder).as_posix(): path for path in files}
    return {
        name: sha256_file(path) for name, path in hashes.items() if name not in (NAME, "build.json")
    }


def _vectors(cache: VectorCache, texts: Sequence[str]) -> Floats:
    """(n, dim): the vectors of texts that the cache holds, zero for an empty text."""
    places = [place for place, text in enumerate(texts) if text]
    known = cache.vectors([texts[place] for place in places])
    if len(places) == len(texts):
        return known
    vectors = np.zeros((len(texts), known.shape[1]), np.float32)
    vectors[places] = known
    return vectors


def _sources(editions: Sequence[EditionRows]) -> list[int]:
    """The rows at which sources begin, with the number of rows at the end."""
    begins = {edition.source: edition.start for edition in reversed(editions)}
    return [*sorted(begins.values()), editions[-1].stop]


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
