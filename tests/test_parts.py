"""Parts of indexes: of one build only, made again when what decides them changes, else shared."""

from __future__ import annotations

import shutil
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from searchable import legal_chunks, legal_index, make_index
from test_build import HASH, content, library, own_chunks

from indexers.building.build import build
from indexers.folder.manifest import read_manifest
from indexers.folder.opened import open_folder
from indexers.folder.verify import verify
from indexers.legs.model import LEGS
from indexers.legs.tokenise import Tokeniser
from retrievers.search.settings import Filter
from tam import fingerprints
from tam.errors import BadIndex
from tam.progress import progress, stage

__all__ = ["own_chunks"]


@pytest.mark.parametrize("part", ["bm25", "dense"])
def test_a_part_of_another_index(tmp_path: Path, part: str) -> None:
    """Of as many rows, so that only its key tells."""
    [one] = build(library(), tmp_path / "one", HASH)
    [two] = build(library(), tmp_path / "two", replace(HASH, stemmer="none", overlap=10))
    shutil.rmtree(one.path / part)
    shutil.copytree(two.path / part, one.path / part)
    with pytest.raises(
        BadIndex, match=rf"{part}: of another index .*8 rows.*build the index again"
    ):
        open_folder(one.path).ranker(part)
    shutil.copy(two.path / "links.parquet", one.path / "links.parquet")
    if part == "dense":
        with pytest.raises(BadIndex, match=r"links\.parquet: of another index"):
            _ = open_folder(one.path).links.kinds


def test_no_permission_is_not_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [result] = build(library(), tmp_path, HASH)
    index = open_folder(result.path)

    def refuse(self: Path, *_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    for call in (lambda: open_folder(result.path), lambda: index.ranker("bm25")):
        with pytest.raises(BadIndex, match="no permission to read") as raised:
            call()
        assert "damaged" not in str(raised.value)


def test_a_part_is_shared_when_its_settings_are_the_same(tmp_path: Path) -> None:
    """Another ``k1`` is another BM25 and no other vectors."""
    [one] = build(library(), tmp_path / "one", HASH)
    [two] = build(library(), tmp_path / "two", replace(HASH, k1=0.9), reuse=[one.path])
    first, second = (read_manifest(each.path).parts for each in (one, two))
    assert first["dense"] == second["dense"]
    assert first["bm25"].key != second["bm25"].key
    assert (two.encoded, two.distinct) == (0, 0)
    assert (two.path / "dense" / "vectors.faiss").samefile(one.path / "dense" / "vectors.faiss")
    assert two.manifest.windows == one.manifest.windows
    assert verify(two.path) == []
    build(library(), tmp_path / "alone", replace(HASH, k1=0.9))
    assert content(tmp_path / "alone" / "legal") == content(two.path)
    # Damaged ones are made anew.
    (one.path / "bm25" / "data.npy").write_bytes(b"")
    [three] = build(library(), tmp_path / "three", HASH, reuse=[one.path, tmp_path / "nowhere"])
    assert verify(three.path) == []


@pytest.mark.parametrize("library_name", ["bm25s", "PyStemmer", "lxml", "pypdfium2", "tokenizers"])
def test_an_upgrade_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library_name: str
) -> None:
    build(library(), tmp_path, HASH)
    assert not build(library(), tmp_path, HASH)[0].built
    version = fingerprints.version

    def upgraded(name: str) -> str:
        return "999" if name == library_name else version(name)

    monkeypatch.setattr(fingerprints, "version", upgraded)
    assert build(library(), tmp_path, HASH)[0].built


def test_code_counts_wherever_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    below = tmp_path / "a_package" / "below"
    below.mkdir(parents=True)
    for folder in (below, below.parent):
        (folder / "__init__.py").write_text("")
    (below / "rules.py").write_text("RULE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = fingerprints.code_of.__wrapped__("a_package")
    (below / "rules.py").write_text("RULE = 2\n")
    after = fingerprints.code_of.__wrapped__("a_package")
    assert before != after
    assert fingerprints.code_around("a_package.below.rules") == fingerprints.code_of(
        "a_package.below"
    )


def test_every_leg_declares_settings_that_there_are() -> None:
    for leg in LEGS.values():
        assert leg.build_settings <= set(HASH.record())
        assert leg.title
        assert leg.part in LEGS


def test_what_a_server_keeps_is_bounded(tmp_path: Path) -> None:
    """New words and new filters without end."""
    index = legal_index(tmp_path / "legal", dense=False)
    for year in range(3000):
        index.stored.bm25.tokeniser.terms("bank")
        if year % 10 == 0:
            index.describe_allowed(Filter(year=2021, source="ussg", under=f"§2B1.1{' ' * year}"))
    assert index._allowed.cache_info().currsize <= 64
    tokeniser = Tokeniser()
    words = ("".join(f"{number * 7919:x}") for number in range(400_000))
    for word in words:
        tokeniser.terms(f"w{word}q")
        if tokeniser._kept.cache_info().currsize == 1 << 16:
            break
    tracemalloc.start()
    for number in range(20_000):
        tokeniser.terms(f"another{number}word " + "x" * 500)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert tokeniser._kept.cache_info().currsize == 1 << 16
    assert grown < 20_000_000


def test_an_index_says_which_leg_it_lacks(tmp_path: Path) -> None:
    index = make_index(tmp_path / "legal", legal_chunks(), dense=False)
    with pytest.raises(BadIndex, match=r"built without vectors, which the retriever hybrid needs"):
        index.search("bank")


def test_piped_stages_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with stage("legal: bm25"):
        assert list(progress([1, 2], "terms")) == [1, 2]
    assert capsys.readouterr().err == "legal: bm25: 0.0 s\n"
