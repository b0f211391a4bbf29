"""Runs and qrels in and out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.queries.trec import (
    Qrel,
    RunRow,
    escape,
    falling,
    ordered,
    read_qrels,
    read_run,
    section_id,
    split_section_id,
    unescape,
    write_qrels,
    write_run,
)
from tam.errors import BadCases

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(texts)
def test_escape_is_one_column_and_reversible(text: str) -> None:
    escaped = escape(text)
    assert escaped.split() == [escaped]
    assert unescape(escaped) == text


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("ussg/2025/§2K2.1", "ussg/2025/§2K2.1"),
        ("title18/2025/18 U.S.C. § 922(g)", "title18/2025/18%20U.S.C.%20§%20922(g)"),
        ("100% a\u00a0b", "100%25%20a%C2%A0b"),
    ],
)
def test_escape_keeps_what_is_readable(plain: str, escaped: str) -> None:
    assert escape(plain) == escaped


def test_section_ids() -> None:
    name = section_id("ussg", 2025, "§2K2.1")
    assert name == "ussg/2025/§2K2.1"
    assert split_section_id(name) == ("ussg", 2025, "§2K2.1")
    assert split_section_id("index/2025/And/or > x") == ("index", 2025, "And/or > x")
    assert split_section_id("elsewhere/2025/x") is None
    assert split_section_id("ussg/25/x") is None


@pytest.mark.parametrize("suffix", [".trec", ".jsonl"])
@given(
    st.dictionaries(
        st.tuples(texts, texts),
        st.tuples(st.floats(-1e6, 1e6, width=32), st.integers(-1, 4)),
        min_size=1,
        max_size=20,
    )
)
def test_round_trip(
    suffix: str,
    tmp_path_factory: pytest.TempPathFactory,
    rows: dict[tuple[str, str], tuple[float, int]],
) -> None:
    folder = tmp_path_factory.mktemp("trec")
    run = ordered(RunRow(query, doc, 0, score) for (query, doc), (score, _) in rows.items())
    write_run(folder / f"run{suffix}", run)
    again = read_run(folder / f"run{suffix}")
    # The order survives whatever ties there were, and rows without ties keep their score.
    assert [row[:3] for row in again] == [row[:3] for row in run]
    qrels = [Qrel(query, doc, grade) for (query, doc), (_, grade) in rows.items()]
    write_qrels(folder / f"qrels{suffix}", qrels)
    assert read_qrels(folder / f"qrels{suffix}") == qrels


def test_ties_are_parted_in_the_file_and_ordered_by_id(tmp_path: Path) -> None:
    rows = ordered([RunRow("q", "b", 1, 2.0), RunRow("q", "a", 2, 2.0), RunRow("q", "c", 3, 9.0)])
    assert [(row.doc_id, row.rank) for row in rows] == [("c", 1), ("a", 2), ("b", 3)]
    write_run(tmp_path / "run.trec", rows)
    written = [float(line.split()[4]) for line in (tmp_path / "run.trec").open(encoding="utf-8")]
    assert written[0] == 9.0
    assert written[1] == 2.0
    assert written[2] < 2.0


@given(st.lists(st.floats(-1e9, 1e9), max_size=30).map(lambda x: sorted(x, reverse=True)))
def test_scores_fall_strictly_as_32_bit_floats(scores: list[float]) -> None:
    values = np.array(falling(scores), dtype=np.float32)
    assert np.all(values[1:] < values[:-1])


@pytest.mark.parametrize(
    ("name", "text", "line", "reason"),
    [
        ("run.trec", "q Q0 d 1 1.0 t\nq Q0 d 1.0 t\n", 2, "5 columns"),
        ("run.trec", "q Q0 two words 1 1.0 t\n", 1, "7 columns"),
        ("run.trec", "q Q0 d one 1.0 t\n", 1, "rank"),
        ("run.trec", "q Q0 d 1 nan t\n", 1, "score"),
        ("run.trec", "q Q0 d 1 1.0 t\n\nq Q0 d 2 0.5 t\n", 3, "twice"),
        ("run.trec", "q Q0 %FF 1 1.0 t\n", 1, "escape"),
        ("run.jsonl", '{"query_id": "q", "doc_id": "d"}\n', 1, "'score'"),
        ("run.jsonl", '{"query_id": "q"\n', 1, "not JSON"),
        ("run.jsonl", '["q"]\n', 1, "object"),
        ("run.jsonl", '{"query_id": 1, "doc_id": "d", "score": 1}\n', 1, "query_id"),
        ("qrels.trec", "q 0 d\n", 1, "3 columns"),
        ("qrels.trec", "q 0 d 1.5\n", 1, "grade"),
        ("qrels.trec", "q 0 d 1\nq 0 d 2\n", 2, "judged twice"),
        ("qrels.jsonl", '{"query_id": "q", "doc_id": "d", "grade": true}\n', 1, "grade"),
    ],
)
def test_bad_lines_name_file_and_line(
    tmp_path: Path, name: str, text: str, line: int, reason: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    read = read_run if name.startswith("run") else read_qrels
    with pytest.raises(BadCases) as caught:
        read(path)
    assert f"{path}:{line}:" in str(caught.value)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_utf8_and_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_bytes(b"q Q0 d 1 1.0 t\nq Q0 \xe9 1 1.0 t\n")
    with pytest.raises(BadCases, match=r"run\.trec:2: not UTF-8"):
        read_run(path)
    with pytest.raises(BadCases, match="cannot be read"):
        read_run(tmp_path / "none.trec")


def test_byte_order_mark_and_crlf(tmp_path: Path) -> None:
    path = tmp_path / "qrels.trec"
    path.write_bytes(b"\xef\xbb\xbfq 0 d 1\r\nq 0 e 0\r\n")
    assert read_qrels(path) == [Qrel("q", "d", 1), Qrel("q", "e", 0)]
    jsonl = tmp_path / "qrels.jsonl"
    jsonl.write_text('{"query_id": "q", "doc_id": "x\u2028y"}\r\n', encoding="utf-8", newline="")
    assert read_qrels(jsonl) == [Qrel("q", "x\u2028y", 1)]


def test_an_empty_id_is_refused() -> None:
    with pytest.raises(BadCases, match="empty"):
        escape("")
