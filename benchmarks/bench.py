"""``make bench``: speeds side by side in one run, with the least that each should reach.

Ratios carry over between machines, seconds do not. Parts that need official manuals are left out
without ``--manuals``; parts that encode take as long as the encoder does.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from tam.errors import BadOption, TamError
from tam.models import DEFAULT_ENCODER
from tam.settings import BuildSettings
from tam.tables import columns

#: tokens of a query that is a whole case, and texts encoded to know the encoder's speed
CASE_TOKENS = 3000
SAMPLE = 1500


class Measurement(NamedTuple):
    """One line of the table: what was compared, both speeds, their relation, and the target."""

    what: str
    ours: str
    other: str
    found: str
    target: str
    reached: bool


def ratio_row(what: str, ours: float, other: float, least: float, unit: str) -> Measurement:
    """A row of two speeds (per second) of which ours should be ``least`` times the other."""
    ratio = ours / other
    return Measurement(
        what,
        f"{_digits(ours)} {unit}",
        f"{_digits(other)} {unit}",
        f"{ratio:,.1f} x",
        f"{least:,g} x",
        ratio >= least,
    )


def _digits(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def bound_row(what: str, found: float, most: float, unit: str, note: str = "") -> Measurement:
    """A row of one number that should be at most ``most``."""
    return Measurement(what, f"{found:,.3g} {unit}", note, "", f"{most:,g} {unit}", found <= most)


def speed(call: Callable[[], object], count: int, least_seconds: float = 1.0) -> float:
    """Items a second: ``call`` does ``count`` at once and is repeated for a while; the best."""
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < least_seconds or best == float("inf"):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return count / best


@dataclass
class Workload:
    """What the parts share: the manuals, the build's settings, and a folder to work in."""

    manuals: Path | None
    settings: BuildSettings
    work: Path
    random: random.Random = field(default_factory=lambda: random.Random(7))

    @property
    def official(self) -> Path:
        if self.manuals is None:
            raise BadOption("needs official manuals; give --manuals")
        return self.manuals

    @cached_property
    def chunk_texts(self) -> list[str]:
        """Texts of some 30,000 chunks: of the manuals, repeated where they are few."""
        from indexers.building.build import build
        from indexers.folder.opened import open_folder
        from manuals.library.editions import open_manuals
        from manuals.library.locate import SAMPLE as sample

        library = open_manuals(self.manuals or sample)
        texts: list[str] = []
        bm25_only = replace(self.settings, encoder=None)
        for result in build(library, self.work / "bm25", bm25_only):
            texts.extend(open_folder(result.path).chunks.texts())
        texts = sorted(dict.fromkeys(texts))
        self.random.shuffle(texts)
        words = [word for text in texts for word in text.split()]
        while len(texts) < 30_000:
            at = self.random.randrange(max(len(words) - 150, 1))
            texts.append(" ".join(words[at : at + 150]))
        return texts[:30_000]

    @cached_property
    def short_queries(self) -> list[str]:
        return [self._words(8) for _ in range(200)]

    @cached_property
    def case_queries(self) -> list[str]:
        """As long as a whole case."""
        return [self._words(CASE_TOKENS) for _ in range(20)]

    def _words(self, count: int) -> str:
        words: list[str] = []
        while len(words) < count:
            words.extend(self.random.choice(self.chunk_texts).split()[:120])
        return " ".join(words[-count:])

    def command(self, *words: str) -> tuple[float, str]:
        """Seconds and output of a ``tam`` command in a process of its own, the best of three."""
        best, output = float("inf"), ""
        for _ in range(3):
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-m", "tam", *words], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise TamError(f"tam {words[0]} failed: {done.stderr.strip().splitlines()[-1]}")
            best, output = min(best, time.perf_counter() - begin), done.stdout
        return best, output

    @property
    def build_words(self) -> list[str]:
        """The options of ``tam build`` for the index that several parts share."""
        return [
            *("--manuals", str(self.official), "--out", str(self.work / "indexes")),
            *("--preset", self.settings.preset, "--dtype", self.settings.dtype),
            *("--encoder", self.settings.encoder or "hash"),
        ]


def bm25(workload: Workload) -> list[Measurement]:
    """BM25 against rank_bm25 and bm25s over the same terms."""
    import bm25s
    from rank_bm25 import BM25Okapi

    from indexers.legs.bm25.matrix import build_bm25
    from indexers.legs.bm25.scores import Bm25
    from indexers.legs.tokenise import TokenOptions

    texts, options = workload.chunk_texts, TokenOptions()
    folder = workload.work / "bm25-speed"
    build_bm25(texts, [0, len(texts)], folder, options)
    index = Bm25(folder, options)
    terms = index.tokeniser.terms
    documents = [terms(text) for text in texts]
    okapi = BM25Okapi(documents)
    theirs = bm25s.BM25()
    theirs.index(documents, show_progress=False)
    short, cases = workload.short_queries, workload.case_queries

    def search(queries: Sequence[str]) -> float:
        def run() -> None:
            for query in queries:
                np.argpartition(index.scores(query), -10)[-10:]

        return speed(run, len(queries))

    def rank(queries: Sequence[str]) -> float:
        asked = [terms(query) for query in queries]
        return speed(lambda: [np.argpartition(okapi.get_scores(q), -10) for q in asked], len(asked))

    def retrieve(queries: Sequence[str]) -> float:
        def run() -> None:
            for query in queries:
                known = [term for term in terms(query) if term in theirs.vocab_dict]
                theirs.retrieve([known], k=10, show_progress=False)

        return speed(run, len(queries))

    whole = search(cases)
    return [
        ratio_row("BM25, short queries, against rank_bm25", search(short), rank(short[:10]), 100, "q/s"),
        ratio_row("BM25, whole cases, against rank_bm25", whole, rank(cases[:1]), 1000, "q/s"),
        ratio_row("BM25, whole cases, against bm25s retrieve", whole, retrieve(cases[:5]), 4, "q/s"),
    ]  # fmt: skip


def dense(workload: Workload) -> list[Measurement]:
    """One year of five, 100 queries at once, the best 100 of each, against FAISS's own filter."""
    import faiss

    from indexers.legs.dense.rows import DenseRows, write_dense

    count, dim, k = 30_000, 384, 100
    generator = np.random.default_rng(7)
    vectors = generator.standard_normal((count + 100, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[count:]
    folder = workload.work / "dense-speed"
    spans = np.zeros((count, 2), np.int32)
    write_dense(folder, vectors[:count], np.arange(count + 1), spans)
    index = DenseRows(folder)
    low, high = count // 5, 2 * count // 5
    only = faiss.SearchParameters(sel=faiss.IDSelectorRange(low, high))  # type: ignore[call-arg, unused-ignore]

    def ours() -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        scores = index.scores(queries, [slice(low, high)])
        best = np.argpartition(scores, -k, axis=1)[:, -k:]
        order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
        return np.take_along_axis(best, order, 1) + low

    _, found = index.faiss.search(queries, k, params=only)
    same = all(set(a) == set(b) for a, b in zip(ours().tolist(), found.tolist(), strict=True))
    row = ratio_row(
        f"dense, one year of five, against FAISS IDSelectorRange ({'same' if same else 'OTHER'} results)",
        speed(ours, 100), speed(lambda: index.faiss.search(queries, k, params=only), 100), 1.5, "q/s",
    )  # fmt: skip
    return [row._replace(reached=row.reached and same)]


def pdf(workload: Workload) -> list[Measurement]:
    """The whole newest Guidelines Manual, all rules included, against plain text of some pages."""
    import pdfplumber

    from manuals.library.editions import open_manuals, parse_edition

    library = open_manuals(workload.official)
    edition = library.edition("ussg", library.years("ussg")[-1])
    path = workload.official / edition.files[0].path
    begin = time.perf_counter()
    pages = len(parse_edition(edition, workload.official).page_starts)
    ours = pages / (time.perf_counter() - begin)
    chosen = range(1, pages, pages // 25)
    with pdfplumber.open(path) as document:
        begin = time.perf_counter()
        for number in chosen:
            document.pages[number].extract_text()
        other = len(chosen) / (time.perf_counter() - begin)
    return [ratio_row("parsing the Guidelines Manual, against pdfplumber extract_text", ours, other, 8, "pages/s")]  # fmt: skip


def full_build(workload: Workload) -> list[Measurement]:
    """A build of everything against the encoder alone on the same distinct texts."""
    import psutil

    from indexers.encoders.base import open_encoder
    from indexers.folder.opened import open_folder
    from manuals.model.source import corpora

    begin = time.perf_counter()
    command = [sys.executable, "-m", "tam", "build", *workload.build_words]
    process = psutil.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _memory(process))
        time.sleep(0.25)
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise TamError("tam build failed; see above")
    memory = bound_row("full build, peak memory of all its processes", peak / 2**30, 4, "GiB")
    if workload.settings.encoder == "hash":
        # Nothing to compare with: it costs less than the rest of the build by design.
        return [memory]
    texts: set[str] = set()
    record = None
    for corpus in corpora():
        path = workload.work / "indexes" / corpus
        if path.is_dir():
            record = open_folder(path).manifest.encoder
            texts |= {text for of in window_texts(path).values() for text in of}
    if record is None:
        raise BadOption("the index has no vectors; give an encoder")
    encoder = open_encoder(record.name, record.dtype, record.batch_size)
    ordered = sorted(texts, key=lambda text: (len(text), text))
    # Evenly over the lengths, so that the sample takes its share of the whole.
    step = max(len(ordered) // SAMPLE, 1)
    part = ordered[::step]
    encoder.encode_documents(part[:64])
    begin = time.perf_counter()
    encoder.encode_documents(part)
    alone = (time.perf_counter() - begin) * len(ordered) / len(part)
    return [
        Measurement(
            f"full build, against the encoder alone on {len(ordered):,} texts",
            f"{seconds:,.0f} s",
            f"{alone:,.0f} s",
            f"{seconds / alone:.2f} x",
            "at most 1.25 x",
            seconds <= 1.25 * alone,
        ),
        memory,
    ]


def rebuild(workload: Workload) -> list[Measurement]:
    """``tam build`` when nothing has changed."""
    workload.command("build", *workload.build_words)
    seconds, output = workload.command("build", *workload.build_words)
    if output.count("nothing to do") == 0:
        raise TamError("a second build did something")
    return [bound_row("rebuild with nothing changed", seconds, 2, "s")]


def added_edition(workload: Workload) -> list[Measurement]:
    """The texts to encode when Title 18 of 2025 joins the other four years."""
    workload.command("build", *workload.build_words)
    of = window_texts(workload.work / "indexes" / "legal")
    years = sorted(year for source, year in of if source == "title18")
    if len(years) < 2:
        raise BadOption("needs two editions of Title 18 or more")
    last = of["title18", years[-1]]
    known = {text for year in years[:-1] for text in of["title18", year]}
    new = len({text for text in last if text not in known})
    share = 100 * new / len(last)
    note = f"{new:,} of {len(last):,}"
    return [bound_row(f"texts encoded when Title 18 of {years[-1]} is added", share, 2, "%", note)]


def cold_query(workload: Workload) -> list[Measurement]:
    """One BM25 query from the command line, with opening the index."""
    workload.command("build", *workload.build_words)
    query = "felon with a gun whose serial number was ground off"
    words = ("search", query, "--index", str(workload.work / "indexes"), "--retriever", "bm25")
    seconds, _ = workload.command(*words)
    code = (
        "import sys, tam.cli\n"
        "try: tam.cli.run(sys.argv[1:])\n"
        "finally: print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True)
    without = done.stdout.strip().endswith("False")
    row = bound_row(f"open an index and answer a BM25 query{'' if without else ', WITH torch'}", seconds, 1, "s")  # fmt: skip
    return [row._replace(reached=row.reached and without)]


def window_texts(path: Path) -> dict[tuple[str, int], list[str]]:
    """(source, year) -> the texts that an index embeds, in the order of its rows."""
    from chunkers.model.store import read_chunks
    from indexers.encoders.base import open_encoder
    from indexers.encoders.windows import WindowOptions, windows
    from indexers.folder.opened import open_folder
    from indexers.folder.table import CHUNKS

    manifest = open_folder(path).manifest
    settings = manifest.settings
    encoder = open_encoder(settings.encoder or "hash")
    chunks = read_chunks(path / CHUNKS)
    distinct = {(chunk.context, chunk.text): chunk for chunk in chunks}
    options = WindowOptions(settings.windows, settings.overlap)
    cut = windows(list(distinct.values()), encoder, options)
    of = {key: [window.text for window in found] for key, found in zip(distinct, cut, strict=True)}
    return {
        (edition.source, edition.year): [
            text for chunk in chunks[edition.rows] for text in of[chunk.context, chunk.text]
        ]
        for edition in manifest.editions
    }


def _memory(process: object) -> int:
    """Bytes of a process and its children; pages that they share count once each."""
    import psutil

    assert isinstance(process, psutil.Popen)
    total = 0
    try:
        for one in (process, *process.children(recursive=True)):
            total += one.memory_full_info().uss
    except psutil.Error:
        return 0
    return total


PARTS: dict[str, Callable[[Workload], list[Measurement]]] = {
    "bm25": bm25,
    "dense": dense,
    "pdf": pdf,
    "build": full_build,
    "rebuild": rebuild,
    "added": added_edition,
    "query": cold_query,
}


def _measured(
    names: Sequence[str], manuals: Path | None, settings: BuildSettings, work: Path | None
) -> list[Measurement]:
    """The rows of some parts. A part whose manuals are not among those given is left out; a
    folder that holds none, or a part that fails, ends all."""
    from manuals.library.editions import open_manuals

    if manuals is not None and not open_manuals(manuals).editions:
        raise BadOption(f"{manuals}: no manual is in this folder; give another with --manuals")
    rows: list[Measurement] = []
    with tempfile.TemporaryDirectory() as temporary:
        workload = Workload(manuals, settings, work or Path(temporary))
        for name in names:
            print(f"bench: {name}", file=sys.stderr)
            try:
                rows.extend(PARTS[name](workload))
            except BadOption as error:
                print(f"bench: {name} left out: {error}", file=sys.stderr)
    return rows


@click.command()
@click.option("--manuals", type=click.Path(path_type=Path), help="Folder of official manuals.")
@click.option("--only", multiple=True, type=click.Choice(list(PARTS)), help="Only these parts.")
@click.option("--encoder", default=DEFAULT_ENCODER, show_default=True)
@click.option("--dtype", default="auto", show_default=True)
@click.option("--preset", default=BuildSettings().preset, show_default=True)
@click.option("--work", type=click.Path(path_type=Path), help="Keep the indexes in this folder.")
def main(
    manuals: Path | None,
    only: tuple[str, ...],
    encoder: str,
    dtype: str,
    preset: str,
    work: Path | None,
) -> None:
    """Measure and print a table; exit with 1 when a target is missed, 2 for a mistake."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        settings = BuildSettings(encoder=encoder, dtype=dtype, preset=preset)
        rows = _measured(only or tuple(PARTS), manuals, settings, work)
    except TamError as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
    head = ("what", "tam", "other", "found", "at least / most", "")
    lines = [(*row[:5], "" if row.reached else "MISSED") for row in rows]
    print(columns((head, *lines), right=(1, 2, 3, 4)))
    sys.exit(0 if all(row.reached for row in rows) else 1)


if __name__ == "__main__":
    main()
