"""``tam search`` as a user calls it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from searchable import legal_chunks, legal_index, make_chunk, make_index, make_section

from manuals.library.store import save_manual
from retrievers.search.index import Index
from tam.cli.search import LONGEST_QUERY, search
from tam.errors import BadIndex, BadOption, TamError, UnknownKey, UnknownYear


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``indexes`` with a legal and an ICD index, the parsed manuals inside."""
    root = tmp_path_factory.mktemp("cli") / "indexes"
    codes = {"E11": "Type 2 diabetes with kidney failure", "I10": "High pressure of the blood"}
    chunks = [make_chunk("tabular", 2025, code, body, title=body) for code, body in codes.items()]
    sections = [make_section("tabular", 2025, code) for code in codes]
    for index in (
        legal_index(root / "legal"),
        make_index(root / "icd", chunks, sections=sections),
    ):
        save_library(index)
    return root


def save_library(index: Index) -> None:
    for manual in index.library.manuals():
        save_manual(manual, index.path / "manuals")


def call(root: Path, *arguments: str, stdin: str | bytes | None = None, **extra: object) -> Result:
    options = {"catch_exceptions": False, **extra}
    return CliRunner().invoke(search, ["--index", str(root), *arguments], stdin, **options)  # type: ignore[arg-type]


def test_output_is_plain_and_fits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (40, 72, 300):
        monkeypatch.setenv("COLUMNS", str(columns))
        result = call(root, "serial number ground off", "--source", "ussg", "--year", "2025")
        lines = result.output.splitlines()
        assert result.exit_code == 0
        assert lines[0].startswith(" 1  §2K2.1")
        assert "ussg 2025, pages 3-4" in result.output
        assert max(map(len, lines)) <= min(columns, 110)
        assert "\x1b" not in result.output


def test_matching_words_are_marked_on_a_terminal(root: Path) -> None:
    result = call(root, "serial numbers", "--source", "ussg", "--year", "2025", color=True)
    marked = click.style("number", fg="yellow", bold=True)
    assert marked in result.output
    assert click.style("levels", fg="yellow", bold=True) not in result.output


def test_all_indexes_take_turns_with_their_corpus_named(root: Path) -> None:
    record = json.loads(call(root, "bank", "--json", "-k", "4").output)
    assert [hit["corpus"] for hit in record["hits"]] == ["icd", "legal", "icd", "legal"]
    assert [hit["rank"] for hit in record["hits"]] == [1, 2, 3, 4]
    plain = call(root, "bank", "-k", "2").output
    assert "icd: tabular 2025" in plain
    assert "legal: " in plain
    all_years = ["--json", "-k", "3", "--collapse", "off"]
    named = json.loads(call(root, "18 USC 1344", *all_years).output)["hits"]
    assert [hit["corpus"] for hit in named] == ["legal"] * 3


def test_one_corpus_and_one_folder(root: Path) -> None:
    by_corpus = call(root, "bank", "--corpus", "legal", "--json").output
    assert call(root / "legal", "bank", "--json").output == by_corpus
    assert {hit["corpus"] for hit in json.loads(by_corpus)["hits"]} == {"legal"}
    assert "legal: " not in call(root / "legal", "bank").output


def test_json_is_the_python_api(root: Path) -> None:
    from retrievers.search.index import open_index

    arguments = ["--year", "2021-2022", "--under", "18 USC chapter 44", "-k", "3"]
    record = json.loads(call(root / "legal", "robbery", *arguments, "--json").output)
    index = open_index(root / "legal")
    hits = index.search(
        "robbery", k=3, year="2021-2022", under="18 USC chapter 44", collapse="years"
    )
    assert record == {
        "query": "robbery",
        "k": 3,
        "filter": "years 2021 to 2022, under 18 USC chapter 44",
        "hits": [{"corpus": "legal", **hit.to_json()} for hit in hits],
    }
    assert {hit.citation for hit in hits} == {"18 U.S.C. § 922", "18 U.S.C. § 924"}


def test_a_text_of_several_years_is_shown_once(root: Path) -> None:
    lines = call(root / "legal", "bank fraud scheme", "--source", "title18").output
    assert "title18 2023 (same text in 2021-2022)" in lines
    assert "title18 2021" not in lines
    lines = call(root / "legal", "bank fraud scheme", "--collapse", "off").output
    assert "title18 2021\n" in lines
    assert "same text" not in lines


def test_the_section_named_is_said(root: Path) -> None:
    named = call(root / "legal", "18 USC 1344", "--year", "2021", "-k", "1").output
    assert "title18 2021, by reference: 18 U.S.C. § 1344" in named


def test_query_from_stdin_and_file(root: Path, tmp_path: Path) -> None:
    case = "- A bank was defrauded.\n- The felon had a firearm.\n"
    file = tmp_path / "case.txt"
    file.write_text(case, "utf-8")
    options = ["--json", "--query-mode", "windows", "--corpus", "legal", "--as-of", "2022-06-01"]
    from_file = call(root, "--query-file", str(file), *options)
    from_stdin = call(root, "-", *options, stdin=case)
    assert from_file.output == from_stdin.output
    record = json.loads(from_file.output)
    assert record["query"] == case
    assert {hit["year"] for hit in record["hits"]} == {2021, 2022}


def test_explain(root: Path) -> None:
    text = call(root, "robbery", "--explain", "--year", "2021").output
    for part in (
        "bm25: rank 1, score ",
        "dense: rank 1, score ",
        "found by search",
        "title18/2021/18_U.S.C._§_924",
        "retriever hybrid: bm25 (weight 1), dense (weight 1); query whole",
        "fusion rrf, k 60, depth 500",
        "filter: year 2021",
        "legal: title18/2021: 4 of 4 chunks",
        "icd: left out: no edition of 2021 in this index",
        "time: open ",
    ):
        assert part in text, part


def test_nothing_found(root: Path) -> None:
    result = call(root, "zebra", "--retriever", "bm25")
    assert result.exit_code == 0
    assert "no chunk shares a word" in result.stderr
    assert result.stdout == ""


ERRORS: list[tuple[list[str], bytes | None, type[TamError], str]] = [
    ([], None, BadOption, "the query is empty"),
    (["  "], None, BadOption, "the query is empty"),
    (["-"], b" \n", BadOption, "standard input is empty"),
    (["-"], b"\xff\xfe\x00", BadOption, "standard input: not UTF-8"),
    (["-"], b"a" * (LONGEST_QUERY + 1), BadOption, "longer than"),
    (["x", "--query-file", "case.txt"], None, BadOption, "not both"),
    (["--query-file", "no/such/file"], None, BadOption, "no/such/file: cannot be read"),
    (["bank", "--year", "1999"], None, UnknownYear, "no edition of 1999"),
    (["bank", "--year", "2019", "--source", "ussg"], None, UnknownYear, "ussg 2021, 2025"),
    (["bank", "--under", "18 USC 999"], None, UnknownKey, "999"),
    (["bank", "--year", "soon"], None, BadOption, "2021-2023"),
    (["bank", "--reranker", "./none"], None, BadOption, "no such model folder"),
]


@pytest.mark.parametrize(("arguments", "stdin", "error", "message"), ERRORS)
def test_errors(
    root: Path,
    arguments: list[str],
    stdin: bytes | None,
    error: type[TamError],
    message: str,
) -> None:
    with pytest.raises(error, match=message) as caught:
        call(root, *arguments, stdin=stdin)
    assert "\n" not in str(caught.value)


def test_no_index_names_the_next_step(tmp_path: Path, root: Path) -> None:
    with pytest.raises(BadIndex, match="no index is built here; run  make indexes"):
        call(tmp_path, "bank")
    with pytest.raises(BadOption, match="an index of legal, not of icd"):
        call(root / "legal", "bank", "--corpus", "icd")


def test_bm25_from_the_shell_never_imports_torch(root: Path) -> None:
    """Nor anything else that takes long and that one BM25 query does not need."""
    program = (
        "import sys\n"
        "from tam.cli import run\n"
        "try:\n"
        f"    run(['search', '18 USC 924 robbery', '--index', {str(root)!r}, '--year', '2021',\n"
        "         '--retriever', 'bm25'])\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "heavy = ['torch', 'sentence_transformers', 'transformers', 'faiss', 'pandas', 'ranx',\n"
        "         'numba', 'bm25s', 'tokenizers', 'lxml', 'pypdfium2', 'huggingface_hub']\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "18 U.S.C. § 924" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr.strip().splitlines()[-1] == "[]"


def test_more_than_there_is_gives_each_chunk_of_the_year_once(root: Path) -> None:
    words = ("firearm", "-k", "100", "--json", "--collapse", "off", "--year", "2021")
    hits = json.loads(call(root / "legal", *words).output)["hits"]
    ids = [hit["chunk_id"] for hit in hits]
    assert sorted(ids) == sorted(chunk.id for chunk in legal_chunks() if chunk.year == 2021)
    assert len(ids) < len(legal_chunks())
