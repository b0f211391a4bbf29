"""``tam build`` and ``tam verify`` on the bundled sample."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from indexers.folder.opened import open_folder
from tam.cli import main
from tam.errors import BadIndex, BadOption


def run(*words: str) -> Result:
    result = CliRunner().invoke(main, words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def built(sample_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The sample built by the command, and what it printed."""
    out = tmp_path_factory.mktemp("out")
    command = ["build", "--manuals", str(sample_manuals), "--out", str(out), "--encoder", "hash"]
    return out, run(*command).output


def test_the_table(built: tuple[Path, str]) -> None:
    out, printed = built
    for corpus in ("icd", "legal"):
        manifest = open_folder(out / corpus).manifest
        assert manifest.sample
        for edition in manifest.editions:
            [line] = [line for line in printed.splitlines() if line.startswith(edition.name)]
            assert line.split()[-2:] == [f"{edition.chunks:,}", f"{edition.windows:,}"]
    assert "SAMPLE, not the official manuals" in printed


def test_the_example_query_works(built: tuple[Path, str]) -> None:
    [line] = [line for line in built[1].splitlines() if line.startswith("Try:")]
    words = shlex.split(line.removeprefix("Try:"))
    assert words[:2] == ["tam", "search"]
    assert "§" in run(*words[1:], "--retriever", "bm25").output


def test_a_second_build_does_nothing(built: tuple[Path, str], sample_manuals: Path) -> None:
    printed = run(
        "build", "--manuals", str(sample_manuals), "--out", str(built[0]), "--encoder", "hash"
    ).output
    assert printed.count("nothing to do") == 2


def test_verify(built: tuple[Path, str], tmp_path: Path) -> None:
    out = built[0]
    printed = run("verify", str(out / "icd"), str(out / "legal")).output
    assert printed.count("sound") == 2
    with pytest.raises(BadIndex, match="not an index"):
        run("verify", str(tmp_path))


def test_verify_fails_on_a_fault(sample_manuals: Path, tmp_path: Path) -> None:
    run("build", "--manuals", str(sample_manuals), "--out", str(tmp_path), "--no-dense",
        "--corpus", "legal", "--preset", "sections")  # fmt: skip
    (tmp_path / "legal" / "bm25" / "data.npy").unlink()
    with pytest.raises(BadIndex, match="1 of 1 indexes have faults"):
        run("verify", str(tmp_path / "legal"))


def test_options_reach_the_manifest(sample_manuals: Path, tmp_path: Path) -> None:
    run("build", "--manuals", str(sample_manuals), "--out", str(tmp_path), "--corpus", "icd",
        "--encoder", "hash", "--preset", "sections", "--windows", "off", "--target", "64",
        "--bound", "128", "--bm25", "bm25+", "--k1", "0.9", "--stopwords", "none")  # fmt: skip
    settings = open_folder(tmp_path / "icd").manifest.settings
    assert (settings.preset, settings.windows, settings.target) == ("sections", False, 64)
    assert (settings.variant, settings.k1, settings.stopwords) == ("bm25+", 0.9, "none")
    assert not (tmp_path / "legal").exists()


def test_mistakes(sample_manuals: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="no such folder"):
        run("build", "--manuals", str(tmp_path / "nothing"), "--out", str(tmp_path))
    with pytest.raises(BadOption, match="target 600"):
        run("build", "--manuals", str(sample_manuals), "--target", "600")
    with pytest.raises(BadOption, match="no such model folder"):
        run("build", "--manuals", str(sample_manuals), "--out", str(tmp_path), "--encoder", "./x")
    assert run("build", "--preset", "mine").exit_code == 2
    assert list(tmp_path.iterdir()) == []
