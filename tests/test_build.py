"""Builds: complete or absent, the same bytes again, nothing to do the second time, no text twice."""

from __future__ import annotations

import json
import multiprocessing
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import numpy as np
import pytest
from factories import body

from indexers.building.build import build
from indexers.encoders.base import HashEncoder
from indexers.folder.opened import StoredIndex, open_folder
from indexers.folder.verify import verify
from indexers.legs.dense.rows import DenseRows
from manuals.library.editions import Library
from manuals.model.sections import Edition, Manual
from tam.errors import BadIndex, BadOption, DamagedFile, ManualError
from tam.settings import BuildSettings, settings_of

HASH = BuildSettings(encoder="hash")
LONG = body(7, 700)
EDITIONS = {
    ("title18", 2024): [body(1), body(2), LONG],
    ("title18", 2025): [body(1), body(3), LONG],
    ("ussg", 2025): [body(4), body(1)],
}


def library(editions: Mapping[tuple[str, int], list[str]] = EDITIONS) -> Library:
    made = {
        factories.edition(source, year): factories.manual(source, year, bodies)
        for (source, year), bodies in editions.items()
    }
    return Library(made, made.__getitem__)


@pytest.fixture(autouse=True)
def own_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """One chunk for each section of the made-up manuals, under no preset's rules. The year stands
    in no chunk, so that equal bodies give equal texts."""

    def chunk_manual(manual: Manual, *_: Any) -> list[Any]:
        plain = replace(manual, edition=replace(manual.edition, title="Manual"))
        return factories.chunks_of(plain)

    monkeypatch.setattr("indexers.building.parsing.chunk_manual", chunk_manual)
    # Processes started afresh would not see the line above.
    monkeypatch.setattr("indexers.building.parsing.WORKERS", 1)


def dense_of(index: StoredIndex) -> DenseRows:
    rows: DenseRows = index.ranker("dense").rows
    return rows


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "build.json"
    }


def test_what_is_built(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    assert result.built
    assert result.path == tmp_path / "legal"
    index = open_folder(result.path)
    assert index.manifest == result.manifest
    assert [e.name for e in index.manifest.editions] == [
        "title18/2024",
        "title18/2025",
        "ussg/2025",
    ]
    assert [(e.start, e.stop) for e in index.manifest.editions] == [(0, 3), (3, 6), (6, 8)]
    # Seven texts are different from each other by heading; the long ones are windows.
    assert index.manifest.windows == sum(e.windows for e in index.manifest.editions) > 8
    assert len(index) == 8 == len(index.bm25) == len(dense_of(index))
    assert verify(result.path) == []


def test_equal_texts_are_encoded_once_and_keep_their_rows(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    assert result.encoded == result.distinct < result.manifest.windows
    index = open_folder(result.path)
    first, again = (index.chunks.rows("title18", year)[0].start for year in (2024, 2025))
    assert index.chunks.chunk(first).text == index.chunks.chunk(again).text
    assert index.chunks.ids[first] != index.chunks.ids[again]
    starts = dense_of(index).starts
    np.testing.assert_array_equal(
        dense_of(index).vectors[starts[first]], dense_of(index).vectors[starts[again]]
    )


def test_vectors_and_windows_are_those_of_the_texts(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    index = open_folder(result.path)
    for row in range(len(index)):
        chunk = index.chunks.chunk(row)
        low, high = dense_of(index).starts[row : row + 2]
        if high - low == 1:
            expected = HashEncoder().encode_documents([chunk.text])
            np.testing.assert_array_equal(dense_of(index).vectors[low:high], expected)
        for start, end in dense_of(index).spans[low:high]:
            assert chunk.text[start:end].strip()


def test_nothing_to_do(tmp_path: Path) -> None:
    build(library(), tmp_path, HASH)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    [result] = build(library(), tmp_path, HASH)
    assert not result.built
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    "change",
    [
        {"k1": 1.2},
        {"windows": False},
        {"overlap": 10},
        {"stemmer": "none"},
        {"variant": "bm25+"},
        {"preset": "sections"},
    ],
)
def test_other_settings_build_again(tmp_path: Path, change: dict[str, Any]) -> None:
    build(library(), tmp_path, HASH)
    [result] = build(library(), tmp_path, replace(HASH, **change))
    assert result.built
    assert result.manifest.settings == replace(HASH, **change)


def test_a_missing_file_builds_again(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    (result.path / "dense" / "spans.npy").unlink()
    [again] = build(library(), tmp_path, HASH)
    assert (again.built, again.encoded) == (True, 0)
    assert verify(result.path) == []


def test_the_same_bytes_again(tmp_path: Path) -> None:
    build(library(), tmp_path / "one", HASH)
    build(library(dict(reversed(EDITIONS.items()))), tmp_path / "two", HASH)
    assert content(tmp_path / "one" / "legal") == content(tmp_path / "two" / "legal")


def test_adding_an_edition_encodes_new_texts_only(tmp_path: Path) -> None:
    first = {key: bodies for key, bodies in EDITIONS.items() if key != ("title18", 2025)}
    build(library(first), tmp_path / "one", HASH)
    [result] = build(library(), tmp_path / "one", HASH)
    # Only the text of body(3) is new in 2025.
    assert (result.built, result.encoded) == (True, 1)
    build(library(), tmp_path / "two", HASH)
    assert content(tmp_path / "one" / "legal") == content(tmp_path / "two" / "legal")


def test_windows_off(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, replace(HASH, windows=False))
    assert result.manifest.windows == result.manifest.chunks == 8


def test_without_vectors(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, replace(HASH, encoder=None))
    index = open_folder(result.path)
    assert not index.has("dense")
    assert not (result.path / "dense").exists()
    with pytest.raises(BadIndex, match="without vectors"):
        _ = dense_of(index)
    with pytest.raises(BadIndex, match="without vectors"):
        index.encoder()
    assert verify(result.path) == []


def test_a_blank_chunk_never_reaches_the_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chunk_manual(manual: Manual, *_: Any) -> list[Any]:
        first, *rest = factories.chunks_of(manual)
        return [replace(first, text=" \n", context="", span=(0, 0)), *rest]

    monkeypatch.setattr("indexers.building.parsing.chunk_manual", chunk_manual)
    [result] = build(library(), tmp_path, HASH)
    dense = dense_of(open_folder(result.path))
    assert not dense.vectors[0].any()
    assert dense.scores(dense.vectors[1:2]).shape == (1, 8)


def test_an_edition_that_cannot_be_parsed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = library()

    def load(edition: Edition) -> Manual:
        if edition.source == "ussg":
            raise DamagedFile("manual.pdf: truncated; fetch it again")
        return whole.manual(edition.source, edition.year)

    [result] = build(Library(whole.editions, load), tmp_path, HASH)
    assert result.problems == ("ussg/2025: manual.pdf: truncated; fetch it again",)
    assert "ussg/2025 is left out" in capsys.readouterr().err
    assert [e.source for e in result.manifest.editions] == ["title18", "title18"]
    with pytest.raises(DamagedFile):
        build(Library(whole.editions, load), tmp_path / "strict", HASH, strict=True)
    # An index that lacks an edition says so again, and does not satisfy --strict.
    [again] = build(Library(whole.editions, load), tmp_path, HASH)
    assert not again.built
    assert again.problems[0].startswith("ussg/2025: could not be parsed")
    with pytest.raises(DamagedFile):
        build(Library(whole.editions, load), tmp_path, HASH, strict=True)
    assert (tmp_path / "legal" / "manifest.json").is_file()
    only = Library([e for e in whole.editions if e.source == "ussg"], load)
    with pytest.raises(ManualError, match="no chunk"):
        build(only, tmp_path / "none", HASH)
    assert not (tmp_path / "none" / "legal").exists()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, OSError])
def test_a_build_that_stops_leaves_the_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]
) -> None:
    build(library(), tmp_path, HASH)
    before = content(tmp_path / "legal")

    def fail(*_: Any) -> None:
        # Made here: one that outlives the test keeps the frames of the build alive.
        raise OSError(28, "No space left on device") if kind is OSError else kind

    monkeypatch.setattr("indexers.building.build.write_manifest", fail)
    expected = BadIndex if kind is OSError else KeyboardInterrupt
    with pytest.raises(expected) as raised:
        build(library(), tmp_path, replace(HASH, k1=2.0))
    if kind is OSError:
        assert "No space left on device" in str(raised.value)
        assert "\n" not in str(raised.value)
    assert content(tmp_path / "legal") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [".cache", "legal"]


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".legal.abc.part" / "bm25").mkdir(parents=True)
    build(library(), tmp_path, HASH)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".cache", "legal"]


def test_an_index_moved_aside_by_a_kill_is_put_back(tmp_path: Path) -> None:
    build(library(), tmp_path, HASH)
    (tmp_path / "legal").rename(tmp_path / ".legal.abc.old")
    [result] = build(library(), tmp_path, HASH)
    assert not result.built
    assert verify(tmp_path / "legal") == []


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(BadIndex, match="cannot be written"):
        build(library(), tmp_path / "file", HASH)


def test_corpora(tmp_path: Path) -> None:
    both = library({**EDITIONS, ("tabular", 2025): [body(9)]})
    assert [r.path.name for r in build(both, tmp_path, HASH)] == ["icd", "legal"]
    assert [r.path.name for r in build(both, tmp_path / "l", HASH, ["legal"])] == ["legal"]
    with pytest.raises(ManualError, match="no manual of corpus icd"):
        build(library(), tmp_path, HASH, ["icd"])
    with pytest.raises(BadOption, match="icd, legal"):
        build(library(), tmp_path, HASH, ["law"])  # type: ignore[list-item]


def _build_in_process(out: Path) -> tuple[bool, int]:
    import indexers.building.parsing as module

    module.chunk_manual = lambda manual, *_: factories.chunks_of(manual)  # type: ignore[assignment]
    module.WORKERS = 1
    [result] = build(library(), out, HASH)
    return result.built, result.encoded


def test_two_processes(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(_build_in_process, [tmp_path, tmp_path])
    assert sorted(built for built, _ in results) == [False, True]
    assert verify(tmp_path / "legal") == []


def test_times_stand_apart(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    record = json.loads((result.path / "build.json").read_bytes())
    assert record["seconds"].keys() == result.seconds.keys()
    assert "seconds" not in (result.path / "manifest.json").read_text()


def test_no_machine_paths_in_the_manifest(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    for name in ("manifest.json", "build.json"):
        assert str(tmp_path) not in (result.path / name).read_text()


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "own"},
        {"target": 16},
        {"bound": 100},
        {"encoder": " "},
        {"dtype": "float16"},
        {"batch_size": 0},
        {"variant": "tfidf"},
        {"k1": -1.0},
        {"b": 1.5},
        {"b": float("nan")},
        {"overlap": -1},
    ],
)
def test_settings_that_are_not_allowed(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadOption) as raised:
        BuildSettings(**wrong)
    assert "\n" not in str(raised.value)


def test_settings_there_and_back() -> None:
    settings = BuildSettings(encoder=None, k1=0.9, windows=False)
    assert settings_of(json.loads(json.dumps(settings.record()))) == settings
    with pytest.raises(BadOption, match="colour"):
        settings_of({"colour": "red"})


def test_a_model_of_another_fingerprint(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    path = result.path / "manifest.json"
    record = json.loads(path.read_bytes())
    record["encoder"]["fingerprint"] = "0" * 64
    path.write_text(json.dumps(record))
    with pytest.raises(BadIndex, match="built with hash of fingerprint 000000000000"):
        open_folder(result.path).encoder()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (None, "not an index"),
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"format": 3}', "damaged"),
        ('{"format": 99}', "update tam"),
        ('{"format": 1}', "build it again"),
    ],
)
def test_manifests_that_cannot_be_read(tmp_path: Path, written: str | None, message: str) -> None:
    if written is not None:
        (tmp_path / "manifest.json").write_text(written)
    with pytest.raises(BadIndex, match=message) as raised:
        open_folder(tmp_path)
    assert "\n" not in str(raised.value)


def test_an_index_of_another_version_is_not_called_damaged(tmp_path: Path) -> None:
    """One with other settings, and one that was built before a file of today's existed."""
    [result] = build(library(), tmp_path, HASH)
    path = result.path / "manifest.json"
    written = json.loads(path.read_text())
    path.write_text(json.dumps({**written, "settings": {**written["settings"], "hue": 1}}))
    with pytest.raises(BadIndex, match=r"another version of tam.*hue.*build it again"):
        open_folder(result.path)
    for part, file in (("bm25", "bm25/blocks.npy"), ("dense", "dense/spans.npy")):
        files = {name: digest for name, digest in written["files"].items() if name != file}
        path.write_text(json.dumps({**written, "files": files}))
        (result.path / file).unlink()
        with pytest.raises(BadIndex, match=rf"older format .* without {file}\); build it again"):
            open_folder(result.path).ranker(part)


def test_opening_and_a_bm25_query_need_no_torch(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    code = (
        "import sys; from indexers.folder.opened import open_folder\n"
        f"index = open_folder({str(result.path)!r})\n"
        "assert index.bm25.scores('lantern').any(); index.chunks.chunk(0)\n"
        "sys.exit(any(name in sys.modules for name in ('torch', 'faiss', 'bm25s')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("chunks.parquet", "chunks.parquet: sha256"),
        ("bm25/counts.npy", "bm25/counts.npy: sha256"),
        ("manuals/ussg-2025/text.txt", "manuals/ussg-2025/text.txt: sha256"),
    ],
)
def test_verify_finds_changed_bytes(tmp_path: Path, name: str, fault: str) -> None:
    [result] = build(library(), tmp_path, HASH)
    path = result.path / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert [line.startswith(fault) for line in verify(result.path)] == [True]


def test_verify_finds_missing_and_foreign_files(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    (result.path / "bm25" / "data.npy").unlink()
    (result.path / "notes.txt").write_text("mine")
    assert verify(result.path) == ["bm25/data.npy: missing", "notes.txt: not in the manifest"]


def test_verify_compares_bodies_with_the_manuals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chunk_manual(manual: Manual, *_: Any) -> list[Any]:
        first, *rest = factories.chunks_of(manual)
        return [replace(first, span=(first.span[0] + 3, first.span[1] + 3)), *rest]

    monkeypatch.setattr("indexers.building.parsing.chunk_manual", chunk_manual)
    [result] = build(library(), tmp_path, HASH)
    faults = verify(result.path)
    assert len(faults) == 3
    assert "title18/2024/K1: the body is not the slice" in faults[0]


def test_chunk_table(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    table = open_folder(result.path).chunks
    assert table.rows() == [slice(0, 8)]
    assert table.rows(source="title18") == [slice(0, 6)]
    assert table.rows(year=2025) == [slice(3, 8)]
    assert table.rows(year=[2024], source=["title18", "ussg"]) == [slice(0, 3)]
    assert table.rows(year=1999) == table.rows(source=[]) == []
    assert table.sources == ("title18", "ussg")
    assert table.source_codes.tolist() == [0] * 6 + [1] * 2
    assert table.years.tolist() == [2024] * 3 + [2025] * 5
    assert table.edition(5).name == "title18/2025"
    expected = [chunk.id for chunk in (table.chunk(row) for row in range(8))]
    assert table.ids == expected
    assert [table.ids[row] for row in np.argsort(table.id_ranks)] == sorted(expected)
    assert table.row_of_id[expected[4]] == 4
    assert table.keys(7) == ("K2",) == table.chunk(7).keys
    assert table.rows_of_key["title18", 2025, "K2"] == (4,)
    assert table.texts()[2] == table.chunk(2).text
    with pytest.raises(IndexError):
        table.chunk(8)


def test_a_table_that_disagrees(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    other = build(library({("ussg", 2025): [body(1)]}), tmp_path / "other", HASH)[0]
    (result.path / "chunks.parquet").write_bytes((other.path / "chunks.parquet").read_bytes())
    with pytest.raises(BadIndex, match="1 chunks, but the manifest says 8"):
        _ = open_folder(result.path).chunks.ids
    (result.path / "chunks.parquet").write_bytes(b"PAR1")
    with pytest.raises(BadIndex, match="missing or damaged"):
        _ = open_folder(result.path).chunks.ids


def test_parts_of_two_builds_are_not_mixed(tmp_path: Path) -> None:
    [result] = build(library(), tmp_path, HASH)
    index = open_folder(result.path)
    assert index.bm25.scores("lantern").any()
    build(library(), tmp_path, replace(HASH, k1=2.0))
    with pytest.raises(BadIndex, match="built anew while it was open"):
        _ = dense_of(index)
    assert dense_of(open_folder(result.path)).vectors.any()


@pytest.mark.skipif(sys.platform != "linux", reason="parses in one process elsewhere")
def test_several_processes_parse_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(library(), tmp_path / "one", HASH)
    monkeypatch.setattr("indexers.building.parsing.WORKERS", 3)
    build(library(), tmp_path / "three", HASH)
    assert content(tmp_path / "one" / "legal") == content(tmp_path / "three" / "legal")
