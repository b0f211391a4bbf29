"""Mistakes of the user, one table for each way in: exit code 2, one line on stderr, no traceback.

``hostile`` tables hold what once broke the product; each row names the words its message must have.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tam.cli
from eval.domains.icd.cases import parse_codes
from eval.queries.query_sets import read_query_set
from eval.reporting.comparison import read_per_query
from indexers.folder.damage import load_array
from indexers.folder.verify import naming_damage
from manuals.library.discover import discover
from manuals.model.keys import LONGEST, find_references, parse_reference
from manuals.model.xmlsafe import parse_xml
from tam.errors import BadCases, BadIndex, BadOption, BadReference, DamagedFile, one_line
from tam.files import write_text

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """The command line as a shell sees it: exit code, stdout, stderr."""

    def run_(*words: str | Path) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            tam.cli.run([str(word) for word in words])
        printed = capfd.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run_


@pytest.fixture(scope="module")
def built(sample_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexes of the sample with the hash encoder."""
    out = tmp_path_factory.mktemp("built")
    words = ["build", "--manuals", str(sample_manuals), "--out", str(out), "--encoder", "hash"]
    with pytest.raises(SystemExit) as ended:
        tam.cli.run(words)
    assert ended.value.code == 0
    return out


def assert_one_line(result: tuple[int, str, str], *words: str) -> None:
    code, _, err = result
    lines = [line for line in err.splitlines() if line.strip()]
    assert (code, len(lines)) == (2, 1), err
    assert lines[0].startswith("tam: ")
    for word in words:
        assert word in lines[0]


# ---- the command line ----


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["serch", "x"], ["serch", "tam --help"]),
        (["search", "-k", "0", "gun"], ["-k", "tam search --help"]),
        (["search", "-k", "nan", "gun"], ["nan"]),
        (["search", "gun", "--source", "nope"], ["nope", "ussg"]),
        (["search", "gun", "--zz"], ["--zz"]),
        (["search", "  "], ["empty"]),
        (["search", "gun", "--query-file", "/dev/null"], ["not both"]),
        (["search", "gun", "--index", "/dev/null/x"], ["no index"]),
        (["manuals", "fetch"], ["NAME", "tam manuals fetch --help"]),
        (["manuals", "fetch", "../../x/2020"], ["catalogue"]),
        (["manuals", "status", "--manuals", "/dev/null"], ["/dev/null"]),
        (["build", "--manuals", "/dev/null"], ["/dev/null", "no such folder"]),
        (["build", "--bound", "x"], ["--bound", "tam build --help"]),
        (["chunk", "--encoder", " "], ["empty"]),
        (["verify", "/dev/null/x"], ["not an index"]),
        (["diff", "18 USC 924", "2021"], ["YEAR2"]),
        (["eval", "compare", "a"], ["'B'"]),
        (["eval", "compare", "/dev/null", "/dev/null"], ["no evaluation"]),
        (["ablate", "/dev/null/x"], ["/dev/null/x"]),
        (["score", "/dev/null"], ["/dev/null"]),
        (["serve", "--port", "70000"], ["70000"]),
    ],
)
def test_words_of_the_command_line(
    run: Run,
    words: list[str],
    told: list[str],
    sample_manuals: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TAM_MANUALS", str(sample_manuals))
    assert_one_line(run(*words), *told)


def test_a_range_of_years_that_runs_backwards(run: Run, built: Path) -> None:
    words = ("queries", "make", "title18-heading", "--year", "2025-2021", "--index", built)
    assert_one_line(run(*words), "turn it round")


def test_a_group_without_a_command_prints_its_help(run: Run) -> None:
    code, out, err = run("manuals")
    assert code == 2 and "Commands:" in out + err


def test_closed_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert_one_line(run("search", "-"), "standard input is closed")


def test_an_error_of_the_system_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/x")

    monkeypatch.setattr("retrievers.search.corpora.open_built", full)
    assert_one_line(run("search", "gun"), "/somewhere/x", "No space left")


def test_a_reader_that_goes_away_is_no_error(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    monkeypatch.setattr("retrievers.search.corpora.open_built", gone)
    monkeypatch.setattr("os.dup2", lambda *_: 0)
    code, _, err = run("search", "gun")
    assert (code, err) == (0, "")


def test_year_0_is_a_year(run: Run, sample_manuals: Path) -> None:
    result = run("open", "E11.22", "--year", "0", "--manuals", sample_manuals)
    assert_one_line(result, "of 0 is here")


# ---- files that are written ----


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(IsADirectoryError) as error:
        write_text(tmp_path / "x", "text")
    assert error.value.filename == str(tmp_path / "x")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_full_disk_names_the_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "x").write_text("old")
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space") as error:
        write_text(tmp_path / "x", "new")
    assert error.value.filename == str(tmp_path / "x")
    assert (tmp_path / "x").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb", "a\\nb"),
        ("\x1b[31m\x00", "\\x1b[31m\\x00"),
        ("a\u2028b", "a\\u2028b"),
        ("\udcff", "\\udcff"),
        ("§ 922 ü 🦠", "§ 922 ü 🦠"),
    ],
)
def test_messages_are_one_line(text: str, line: str) -> None:
    assert one_line(text) == line
    assert str(BadOption(text)) == line


# ---- folders of manuals ----


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "manuals").mkdir()
    return tmp_path / "manuals"


def test_links_in_a_circle(folder: Path, run: Run) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    (folder / "here").symlink_to(".")
    (folder / "gone.xml").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.xml")
    assert len(discover(folder).notes) == 5
    assert_one_line(run("build", "--manuals", folder, "--out", folder / "out"), "no manual found")
    assert not (folder / "out").exists()


@pytest.mark.parametrize("name", [b"a\xff.xml", b"a\nb\x1b[31m.xml", b" -x.xml", b"-\xc3\xbc.xml"])
@pytest.mark.parametrize("whole", [True, False])
def test_odd_names(folder: Path, sample_manuals: Path, name: bytes, whole: bool) -> None:
    """Never more than a line, and what is read can be written to a record."""
    tabular = sample_manuals / "icd10cm" / "2024" / "icd10cm_tabular_2024.xml"
    data = tabular.read_bytes() if whole else b"<x"
    (folder / os.fsdecode(name)).write_bytes(data)
    found = discover(folder)
    for line in (*found.problems, *found.notes):
        assert one_line(line) == line
    for edition in found.editions:
        json.dumps([file.path for file in edition.files], ensure_ascii=False).encode()
    assert bool(found.editions) == (whole and b"\xff" not in name)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<a>\xff</a>",
        b"<a>\x00</a>",
        b'<?xml version="1.0" encoding="nope"?><a/>',
        b"\xff\xfe<",
        b"<a>" * 300,
        b"<a>&b;</a>",
    ],
)
def test_xml_that_is_not_whole(folder: Path, data: bytes) -> None:
    path = folder / os.fsdecode(b"a\xff.xml")
    path.write_bytes(data)
    with pytest.raises(DamagedFile, match="not a whole XML file") as error:
        parse_xml(path)
    assert "None" not in str(error.value)


# ---- references ----


# A regular expression that explodes does not end by itself: the suite's time limit ends it.
LISTS = ("§ 1, ", "sections 1, ", "§§ 1-2, ", "1-§", "924(c), ", "§ 924(c), ", "or § 1, ")
REPEATED = (*LISTS, "(", "§", "U.S.C.", "1-", "(1)", "18 U.S.C. § ", "E11.", "A > ", "I.C.2.e.")


@pytest.mark.parametrize("unit", REPEATED)
def test_long_texts_take_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    find_references(text, typed=True)
    with pytest.raises(BadReference, match="longer than"):
        parse_reference(text)


@pytest.mark.parametrize(
    "text",
    [
        "I.C.2.e.commentary section 924 of title 18 and subsection (a) of section 924 of title 18!",
        "I.C.2." + "a" * 200 + "!",
        "I.C.2.e." + "(A)(i)E11." * 190,
        "A" * LONGEST,
    ],
)
def test_one_reference_takes_no_time(text: str) -> None:
    with suppress(BadReference):
        parse_reference(text)


@pytest.mark.parametrize("unit", LISTS)
def test_lists_within_lists_lose_nothing(unit: str) -> None:
    """Each member of a long list of bare sections is found once, where it stands."""
    found = find_references(unit * 40 + "end", typed=True)
    starts = [each.span[0] for each in found]
    assert starts == sorted(set(starts))
    if "924" in unit:
        assert len(found) == 40


@given(st.lists(st.sampled_from([*REPEATED, "of title 18", " and ", "Pub. L. ", "2K2.1", "\n"])))
@settings(max_examples=150, deadline=None)
def test_references_of_any_text(parts: list[str]) -> None:
    text = "".join(parts)
    for reference in find_references(text, typed=True):
        assert text[reference.span[0] : reference.span[1]] == reference.text
    try:
        parse_reference(text)
    except BadReference as error:
        assert "\n" not in str(error)


# ---- damaged indexes ----


@pytest.mark.parametrize("cut", [0, 1, 9, 40, 100])
def test_arrays_cut_off(tmp_path: Path, cut: int) -> None:
    np.save(tmp_path / "a.npy", np.arange(10))
    data = (tmp_path / "a.npy").read_bytes()
    for mapped in (False, True):
        (tmp_path / "a.npy").write_bytes(data[:cut])
        with pytest.raises(BadIndex, match=r"a\.npy: missing or damaged"):
            load_array(tmp_path / "a.npy", mapped)


def test_array_head_that_is_no_python(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(10))
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data.replace(b"(10,)", b"(10, "))
    with pytest.raises(BadIndex, match="damaged"):
        load_array(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        ("bm25/starts.npy", "empty"),
        ("bm25/indices.npy", "ones"),
        ("dense/starts.npy", "empty"),
        ("dense/starts.npy", "ones"),
        ("dense/spans.npy", "half"),
        ("dense/vectors.faiss", "half"),
        ("chunks.parquet", "half"),
        ("chunks.parquet", "ones"),
    ],
)
def test_search_in_a_damaged_index(
    run: Run, built: Path, tmp_path: Path, file: str, damage: str
) -> None:
    shutil.copytree(built / "legal", tmp_path / "legal")
    path = tmp_path / "legal" / file
    data = path.read_bytes()
    head = data[:128]
    changed = {
        "empty": b"",
        "half": data[: len(data) // 2],
        "ones": head + b"\x7f" * len(data[128:]),
    }
    path.write_bytes(changed[damage])
    result = run("search", "18 USC 924 gun", "--index", tmp_path / "legal")
    assert_one_line(result, str(tmp_path / "legal"), "build")


@pytest.mark.parametrize("change", [{"start": -5}, {"start": "a"}, {"stop": -1}, {"year": None}])
def test_manifest_with_rows_that_cannot_be(
    run: Run, built: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    shutil.copytree(built / "legal", tmp_path / "legal")
    path = tmp_path / "legal" / "manifest.json"
    record = json.loads(path.read_bytes())
    record["editions"][0].update(change)
    path.write_text(json.dumps(record))
    assert_one_line(run("search", "gun", "--index", tmp_path / "legal"), "manifest.json", "build")


def test_naming_damage(built: Path, tmp_path: Path) -> None:
    """An unforeseen failure is the index's fault only when a file of it was changed."""
    shutil.copytree(built / "legal", tmp_path / "legal")
    with pytest.raises(ZeroDivisionError), naming_damage(tmp_path / "legal"):
        _ = 1 // 0
    (tmp_path / "legal" / "bm25" / "data.npy").write_bytes(b"")
    with pytest.raises(BadIndex, match=r"bm25/data\.npy"), naming_damage(tmp_path / "legal"):
        _ = 1 // 0


@pytest.mark.parametrize("file", ["edition.json", "sections.parquet", "text.txt"])
@pytest.mark.parametrize(
    "data", [b"", b"{}", b'{"format": 1}', b'{"format":1,"edition":[]}', b"\xff"]
)
def test_open_of_a_damaged_edition(
    run: Run, built: Path, tmp_path: Path, file: str, data: bytes
) -> None:
    if file == "text.txt" and data != b"\xff":
        return
    edition = tmp_path / "manuals" / "title18-2024"
    shutil.copytree(built / "legal" / "manuals" / "title18-2024", edition)
    (edition / file).write_bytes(data)
    result = run("open", "18 USC 924", "--manuals", tmp_path / "manuals")
    assert_one_line(result, "title18-2024")


# ---- queries, cases and evaluations ----


@pytest.mark.parametrize(
    "row",
    [
        {"source": []},
        {"source": {}},
        {"query_id": "\ud800"},
        {"text": "\udfff"},
        {"year": "2024"},
        {"year": 1e400},
        {"golds": [[]]},
        {"query_id": ""},
    ],
)
def test_queries(tmp_path: Path, row: dict[str, object]) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"query_id": "a", "text": "b", **row}) + "\n")
    with pytest.raises(BadCases, match=r"q\.jsonl:1: "):
        read_query_set(path)


def test_codes_nested_too_deep() -> None:
    with pytest.raises(ValueError, match="lists within lists"):
        parse_codes("[" * 100_000)


def test_a_report_that_is_no_object(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    parquet.write_table(pa.table({"query_id": ["a"], "mrr": [1.0]}), tmp_path / "per_query.parquet")
    (tmp_path / "report.json").write_text("[1]")
    with pytest.raises(BadCases, match="no evaluation here"):
        read_per_query(tmp_path)


def test_arguments_of_a_tool_nested_too_deep(run: Run, sample_manuals: Path) -> None:
    words = ("tool", "open_tabular_code", "[" * 100_000, "--manuals", sample_manuals)
    assert_one_line(run(*words), "JSON")


def test_results_do_not_go_into_an_index(run: Run, built: Path, tmp_path: Path) -> None:
    query = {"query_id": "1", "text": "bank fraud", "year": 2024, "golds": []}
    queries = tmp_path / "q.jsonl"
    queries.write_text(json.dumps(query) + "\n")
    words = ("eval", "--corpus", "legal", "--index", built, "--queries", queries, "--out")
    assert_one_line(run(*words, built / "legal"), "holds an index")
    assert_one_line(run(*words, queries), "is a file")


def test_a_run_whose_settings_are_gone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "cases.jsonl").write_text('{"case_id": "1"}\n')
    assert_one_line(run("score", tmp_path), "config.json", "damaged")
