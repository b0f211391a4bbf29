"""The parts of the benchmark that decide, without its timings."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.bench import bound_row, main, ratio_row, window_texts
from indexers.folder.opened import open_folder


def test_rows_say_what_was_missed() -> None:
    assert ratio_row("a", 300.0, 2.0, 100, "q/s") == (
        "a", "300 q/s", "2 q/s", "150.0 x", "100 x", True,
    )  # fmt: skip
    assert not ratio_row("a", 3.0, 2.0, 1.6, "q/s").reached
    assert bound_row("b", 0.5, 1, "s").reached
    assert not bound_row("b", 1.5, 1, "s").reached


def test_window_texts_are_those_of_the_index(sample_legal_index: Path) -> None:
    index = open_folder(sample_legal_index)
    of = window_texts(sample_legal_index)
    assert {key: len(texts) for key, texts in of.items()} == {
        (edition.source, edition.year): edition.windows for edition in index.manifest.editions
    }
    encoded = index.encoder().encode_documents([text for texts in of.values() for text in texts])
    assert (encoded == index.ranker("dense").rows.vectors).all()


@pytest.mark.parametrize("made", [True, False])
def test_a_wrong_folder_ends_in_one_line(tmp_path: Path, made: bool) -> None:
    folder = tmp_path / "wrong"
    if made:
        folder.mkdir()
    result = CliRunner().invoke(main, ["--manuals", str(folder), "--only", "pdf"])
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("bench: ") and "wrong" in line
