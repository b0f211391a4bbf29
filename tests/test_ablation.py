"""Ablation studies: files and cells, keeping and continuing, tables, figures and the report."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from eval.ablation.reporting import figures as drawing
from eval.ablation.reporting import pages, tables
from eval.ablation.reporting.report import inline, write_study
from eval.ablation.reporting.summary import Summary, summarise
from eval.ablation.running import measuring
from eval.ablation.running.cell_files import CellResult, read_cell, write_cell
from eval.ablation.running.runner import StudyRun, run_study
from eval.ablation.spec.axes import AXES, canonical
from eval.ablation.spec.cells import Cell
from eval.ablation.spec.study import Study, read_study
from eval.ablation.spec.validity import mark
from eval.measuring.evaluate import EvalSettings, evaluate
from eval.queries.query_sets import QuerySet, SetInfo
from retrievers.search.index import open_index
from tam.cli.ablate import ablate
from tam.errors import StudyError, TamError

HEAD = """
title = "A <study> of $5 & more"
corpus = "icd"
measures = ["recall@k", "mrr", "budget_recall@4000"]
k = [1, 2, 8]
"""
QUERIES = """
[queries]
set = "index-to-tabular"
year = 2025
n = 40
"""
BASELINE = """
[baseline]
encoder = "hash"
retriever = "bm25"
"""
AXES_OF_STUDY = """
[axes]
retriever = ["hybrid", "dense"]
k = [1]
"""


def write(folder: Path, text: str, name: str = "small.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def study_of(tmp_path: Path) -> Callable[..., Study]:
    """A study of the usual parts with some replaced."""

    def make(
        head: str = HEAD,
        queries: str = QUERIES,
        baseline: str = BASELINE,
        axes: str = AXES_OF_STUDY,
        more: str = "",
    ) -> Study:
        return read_study(write(tmp_path, head + queries + baseline + axes + more))

    return make


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the studies of this file put their indexes."""
    return tmp_path_factory.mktemp("indexes")


@pytest.fixture(scope="module")
def run(root: Path, sample_manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> StudyRun:
    """One study on the sample, run once."""
    folder = tmp_path_factory.mktemp("study")
    study = read_study(write(folder, HEAD + QUERIES + BASELINE + AXES_OF_STUDY))
    return run_study(study, folder, root, sample_manuals)


# -- the file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = [", "not TOML"),
        ("speed = 1\n", "speed: not known"),
        (HEAD.replace('"icd"', '"medical"') + QUERIES, "corpus: 'medical' is not known"),
        (HEAD.replace('corpus = "icd"', "") + QUERIES, "corpus: is missing"),
        ('mode = "random"\n' + HEAD + QUERIES, "mode: 'random'"),
        (HEAD.replace("mrr", "mmr") + QUERIES, "measure 'mmr': no such measure"),
        (HEAD.replace("mrr", "recall") + QUERIES, "needs a number"),
        (HEAD.replace("mrr", "budget_recall@k") + QUERIES, "a budget is in tokens"),
        (HEAD.replace("mrr", "sections.recall@k") + QUERIES, "one comes twice"),
        (HEAD.replace("[1, 2, 8]", "[0]") + QUERIES, "k: 0 is not a whole number from 1"),
        (HEAD.replace("[1, 2, 8]", "8") + QUERIES, "k: 8 is not a list"),
        (HEAD, "queries: give one of set"),
        (HEAD + QUERIES.replace("index-to-tabular", "title18-heading"), "no query set of icd"),
        (HEAD + QUERIES.replace("year = 2025", ""), "give the edition's year"),
        (HEAD + '[queries]\ncases = "absent.csv"\n', "no file 'absent.csv'"),
        (HEAD + QUERIES + "colour = 1\n", "[queries] colour: not known"),
        (HEAD + QUERIES + "[axes]\ncolour = [1]\n", "axes.colour: no such axis"),
        (HEAD + QUERIES + "[axes]\nretriever = []\n", "axes.retriever: the list is empty"),
        (HEAD + QUERIES + '[axes]\nretriever = "bm25"\n', "axes.retriever: 'bm25' is not a list"),
        (HEAD + QUERIES + '[axes]\nretriever = ["lucky"]\n', "'lucky' is not known"),
        (HEAD + QUERIES + "[axes]\nk1 = [-1.0]\n", "k1 -1.0 is out of range"),
        (HEAD + QUERIES + "[axes]\nk1 = [true]\n", "True is not a number"),
        (HEAD + QUERIES + '[axes]\nwindows = ["maybe"]\n', "neither on nor off"),
        (HEAD + QUERIES + "[axes]\nweights = [{bm25 = -1}]\n", "below 0"),
        (HEAD + QUERIES + "[axes]\nweights = [{bm42 = 0.5}]\n", "leg 'bm42'"),
        (HEAD + QUERIES + '[axes]\nencoder = ["./no/such/folder"]\n', "no such model folder"),
        (HEAD + QUERIES + '[axes]\nencoder = ["none"]\n', "needs vectors"),
        (HEAD + QUERIES + '[index]\nsources = ["title18"]\n', "index.sources: 'title18'"),
        (HEAD + QUERIES + '[[cells]]\nretriever = "bm25"\n', "name every cell"),
        (HEAD + QUERIES + '[[cells]]\nname = "x"\nsize = 3\n', "cell 'x': size: no such axis"),
        (
            HEAD.replace("recall@k", "recall@8") + QUERIES + "[axes]\nk = [1, 2]\n",
            "axes.k: no measure",
        ),
        (HEAD + QUERIES + "[axes]\nexpand_documents = [true]\n", "expand_documents"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_before_any_work(
    tmp_path: Path, text: str, said: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(StudyError) as error:
        read_study(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="cannot be read"):
        read_study(tmp_path / "absent.toml")


def test_every_ready_study_is_right() -> None:
    folder = Path(__file__).parent.parent / "studies"
    studies = sorted(folder.glob("*.toml"))
    assert studies
    for path in studies:
        try:
            read_study(path)
        except StudyError as error:
            # Cases lie beside the project, not in it.
            assert "no file '../../shared" in str(error)
        assert path.with_suffix(".md").is_file(), f"{path.name} has no page"


# -- cells


def test_one_factor_cells_differ_from_the_baseline_in_one_setting(
    study_of: Callable[..., Study],
) -> None:
    study = study_of(axes='[axes]\nretriever = ["bm25", "hybrid"]\nk1 = [1.2]\nfilter = ["off"]\n')
    assert [(cell.name, cell.factor) for cell in study.cells] == [
        ("baseline", ""),
        ("retriever = hybrid", "retriever"),
        ("k1 = 1.2", "k1"),
        ("filter = off", "filter"),
    ]
    assert [len(cell.changed) for cell in study.cells] == [0, 1, 1, 1]


def test_a_grid_has_every_combination_once(study_of: Callable[..., Study]) -> None:
    study = study_of(
        head='mode = "grid"\n' + HEAD,
        axes='[axes]\nretriever = ["bm25", "hybrid"]\nfusion = ["rrf", "minmax"]\nrrf_k = [10, 60]\n',
    )
    # BM25 alone fuses nothing, and min-max has no constant: 1 + 2 + 1 of the eight combinations.
    names = [cell.name for cell in study.cells]
    assert names == [
        "baseline",
        "retriever = hybrid, rrf_k = 10",
        "retriever = hybrid",
        "retriever = hybrid, fusion = minmax",
    ]


def test_named_cells_come_last_and_change_several_settings(study_of: Callable[..., Study]) -> None:
    study = study_of(more='[[cells]]\nname = "ours"\nretriever = "hybrid"\nfusion = "zscore"\n')
    ours = study.cells[-1]
    assert (ours.name, ours.named, ours.factor) == ("ours", True, "")
    assert dict(ours.changed) == {"retriever": "hybrid", "fusion": "zscore"}
    assert (ours.search.retriever, ours.search.fusion) == ("hybrid", "zscore")


def test_a_grid_of_more_than_ten_thousand_cells_is_refused(study_of: Callable[..., Study]) -> None:
    many = ", ".join(str(number) for number in range(1, 102))
    with pytest.raises(StudyError, match=r"10,201 cells are too many \(at most 10,000\)"):
        study_of(
            head='mode = "grid"\n' + HEAD, axes=f"[axes]\nrrf_k = [{many}]\ndepth = [{many}]\n"
        )


def test_settings_without_effect_do_not_make_a_cell_different() -> None:
    base = {axis.name: axis.default for axis in AXES.values()}
    bm25 = {**base, "retriever": "bm25", "fusion": "minmax", "windows": False}
    assert canonical(bm25, base) == {**base, "retriever": "bm25"}
    dense = {**base, "retriever": "dense", "k1": 0.5, "stemmer": "none"}
    assert canonical(dense, base) == {**base, "retriever": "dense"}
    hybrid = {**base, "k1": 0.5, "windows": False}
    assert canonical(hybrid, base) == hybrid


def test_a_cell_takes_its_own_k(study_of: Callable[..., Study]) -> None:
    study = study_of(more='[[cells]]\nname = "twenty"\nk = 20\n')
    found = {cell.name: [str(score) for score in study.scores(cell)] for cell in study.cells}
    rest = ["sections.mrr", "chunks.budget_recall@4000"]
    assert found["baseline"] == ["sections.recall@8", *rest]
    assert found["k = 1"] == ["sections.recall@1", *rest]
    assert found["twenty"] == ["sections.recall@20", *rest]
    assert study.deepest == 200


# -- leaks and circles


LEAKING = "[axes]\nexpand_documents = [true]\n"


def test_a_leak_is_refused_unless_the_study_allows_it(study_of: Callable[..., Study]) -> None:
    with pytest.raises(StudyError, match="'expand_documents = on' leaks"):
        study_of(axes=LEAKING)
    allowed = study_of(head="allow_leak = true\n" + HEAD, axes=LEAKING)
    info = SetInfo("index-to-tabular", text_from="index_path", made_from=("index_entry_to_code",))
    assert [mark(cell, info) for cell in allowed.cells] == ["", "L"]
    # Without the index among what is indexed its paths are in no chunk.
    assert study_of(more='[index]\nsources = ["tabular"]\n', axes=LEAKING).cells


def test_a_leaking_file_of_queries_is_refused_before_any_work(
    tmp_path: Path, study_of: Callable[..., Study], sample_manuals: Path
) -> None:
    from eval.queries.query_sets import Query, write_query_set

    info = SetInfo("mine", text_from="index_path")
    queries = QuerySet(info, (Query("1", "Abscess > brain", 2025, "tabular"),), ())
    write_query_set(tmp_path / "mine.jsonl", queries)
    study = study_of(queries='[queries]\nfile = "mine.jsonl"\n', axes=LEAKING)
    with pytest.raises(StudyError, match="leaks"):
        run_study(study, tmp_path / "out", tmp_path / "indexes", sample_manuals)
    assert not (tmp_path / "indexes").exists()


def test_links_are_marked_where_the_golds_were_read_from_them(
    study_of: Callable[..., Study],
) -> None:
    study = study_of(axes="[axes]\nlinks = [true]\n")
    made = SetInfo("a", made_from=("index_entry_to_code",))
    written = SetInfo("b")
    assert [mark(cell, made) for cell in study.cells] == ["", "c"]
    assert [mark(cell, written) for cell in study.cells] == ["", ""]


# -- running


def test_cells_measure_what_tam_eval_measures(run: StudyRun) -> None:
    for cell, result in zip(run.study.cells, run.results, strict=True):
        index = run.built[cell.build].index
        settings = EvalSettings(ks=(1, 2, 8), budgets=(4000,), search=cell.search)
        expected = evaluate(open_index(index.path), run.query_set, settings)
        assert result.queries == tuple(query.query_id for query in expected.queries)
        names = [f"sections.recall@{cell.k}", "sections.mrr", "chunks.budget_recall@4000"]
        for at, name in enumerate(names):
            np.testing.assert_array_equal(result.values[:, at], expected.column(name))
        for at, k in enumerate((1, 2, 8)):
            np.testing.assert_array_equal(
                result.curve[:, at], expected.column(f"sections.recall@{k}")
            )


def test_the_index_is_built_once_for_all_cells(run: StudyRun, root: Path) -> None:
    assert len(run.built) == 1
    assert len({cell.name for cell in run.study.cells}) == 4
    assert (root / ".cache" / "vectors").is_dir()


def test_filters_of_one_study_search_other_editions(
    study_of: Callable[..., Study], root: Path, sample_manuals: Path, tmp_path: Path
) -> None:
    study = study_of(axes='[axes]\nfilter = ["off", "as_of"]\n')
    found = run_study(study, tmp_path / "out", root, sample_manuals)
    year, off, as_of = (result.values[:, 1].mean() for result in found.results)
    assert as_of == year > off
    benches = measuring.CellEvaluator(
        next(iter(found.built.values())).index, found.query_set, study, measuring.LegCache()
    )
    assert {each.describe() for each in benches.filters("as_of")} == {
        "as of 2025-09-30, source tabular"
    }


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the cells that are computed."""
    names: list[str] = []
    real = measuring.CellEvaluator.measure

    def measure(self: measuring.CellEvaluator, cell: Cell, *args: object) -> CellResult:
        names.append(cell.name)
        return real(self, cell, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(measuring.CellEvaluator, "measure", measure)
    yield names


def files_of(folder: Path) -> dict[str, bytes]:
    """All files of a study's results but the times."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "timings.json"
    }


def test_a_killed_study_goes_on_and_gives_the_same_bytes(
    study_of: Callable[..., Study],
    root: Path,
    sample_manuals: Path,
    tmp_path: Path,
    measured: list[str],
) -> None:
    study = study_of()
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    write_study(whole, run_study(study, whole, root, sample_manuals))
    assert len(measured) == 4

    measured.clear()
    write_study(killed, run_study(study, killed, root, sample_manuals))
    cells = sorted((killed / "cells").iterdir())
    cells[0].unlink()
    cells[1].write_bytes(cells[1].read_bytes()[:100])
    measured.clear()
    said: list[str] = []
    found = run_study(study, killed, root, sample_manuals, said.append)
    assert len(measured) == 2
    assert found.kept == 2
    assert "2 of 4 cells are finished already" in said
    write_study(killed, found)
    assert files_of(killed) == files_of(whole)


def test_a_cell_whose_inputs_changed_is_computed_again(
    study_of: Callable[..., Study],
    root: Path,
    sample_manuals: Path,
    tmp_path: Path,
    measured: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    run_study(study_of(), out, root, sample_manuals)
    for changed in (
        study_of(queries=QUERIES.replace("n = 40", "n = 39")),
        study_of(head=HEAD.replace("@4000", "@500")),
        study_of(baseline=BASELINE + "rrf_k = 20\n"),
    ):
        measured.clear()
        run_study(changed, out, root, sample_manuals)
        assert len(measured) >= 1
        measured.clear()
        run_study(changed, out, root, sample_manuals)
        assert measured == []
    monkeypatch.setattr("eval.ablation.running.cell_files.code_version", lambda: "other code")
    run_study(study_of(), out, root, sample_manuals)
    assert len(measured) == 4


def test_a_damaged_cell_file_counts_as_absent(tmp_path: Path) -> None:
    assert read_cell(tmp_path / "absent.parquet") is None
    path = write(tmp_path, "not parquet", "cell.parquet")
    assert read_cell(path) is None


def test_a_cell_file_holds_the_result(tmp_path: Path, run: StudyRun) -> None:
    result = replace(run.results[0], notes=("a note",))
    write_cell(tmp_path / "cell.parquet", result, run.study.labels, run.study.ks)
    found = read_cell(tmp_path / "cell.parquet")
    assert found is not None
    for name in ("queries", "gold_names", "notes"):
        assert getattr(found, name) == getattr(result, name)
    for name in ("values", "curve", "gold_query", "gold_ranks"):
        np.testing.assert_array_equal(getattr(found, name), getattr(result, name))


# -- numbers and tables


def made_up(study: Study, hits: list[list[float]], info: SetInfo | None = None) -> StudyRun:
    """A run whose cells have these values of the first measure for each query."""
    results = []
    for values in hits:
        column = np.array(values)[:, None]
        size = len(values)
        results.append(
            CellResult(
                tuple(f"q{number:03}" for number in range(size)),
                np.repeat(column, len(study.labels), axis=1),
                np.repeat(column, len(study.ks), axis=1),
                np.arange(size),
                tuple(f"tabular/{2024 + number % 2}/A{number:02}" for number in range(size)),
                np.array([1 if value else 0 for value in values]),
            )
        )
    query_set = QuerySet(info or SetInfo("made-up", (2024, 2025), 7), (), ())
    return StudyRun(study, query_set, tuple(results), {})


@pytest.fixture
def summary(study_of: Callable[..., Study]) -> Summary:
    """Four cells over 40 queries: the second far better, the third a little, the fourth worse."""
    base = [1.0] * 20 + [0.0] * 20
    better = [1.0] * 40
    little = [1.0] * 21 + [0.0] * 19
    worse = [0.0] * 40
    return summarise(made_up(study_of(), [base, better, little, worse]))


def test_means_marks_and_the_best(summary: Summary) -> None:
    assert [float(row.means[0]) for row in summary.rows] == [0.5, 1.0, 0.525, 0.0]
    assert [row.sign(0) for row in summary.rows] == [0, 1, 0, -1]
    assert [summary.is_best(at, 0) for at in range(4)] == [False, True, False, False]
    assert summary.best == 1
    assert summary.unfound == 0
    # Holm over the three cells of one measure: the smallest p times three.
    first = summary.rows[1].against[0]
    assert first.adjusted == pytest.approx(3 * first.p)
    assert summary.rows[2].against[0].adjusted == pytest.approx(1.0)


def test_groups_and_worst_queries(summary: Summary) -> None:
    assert [(group.source, group.year, group.golds) for group in summary.groups] == [
        ("tabular", 2024, 20),
        ("tabular", 2025, 20),
    ]
    np.testing.assert_allclose(summary.groups[0].recall, [0.5, 1.0, 0.55, 0.0])
    assert [each.query_id for each in summary.worst[:2]] == ["q021", "q022"]
    assert summary.worst[0].ranks == ((0,), (1,))


def test_a_marked_cell_is_never_the_best(study_of: Callable[..., Study]) -> None:
    study = study_of(axes="[axes]\nlinks = [true]\n")
    info = SetInfo("made-up", made_from=("appendix_a",))
    found = summarise(made_up(study, [[1.0, 0.0] * 10, [1.0] * 20], info))
    assert found.best == 0
    text = tables.markdown(found)
    assert "| links = on [c] | 1.000 ↑ |" in text
    assert "| baseline | **0.500** |" in text
    assert "shows that the mechanism works, not that it helps" in text
    assert "links = on [c]" in tables.latex(found)
    assert "links = on [c]" in tables.text_table(found)


def test_queries_that_not_every_cell_measured_are_left_out(study_of: Callable[..., Study]) -> None:
    run = made_up(study_of(), [[1.0, 0.0, 1.0]] * 4)
    short = replace(
        run.results[1],
        queries=("q002", "q000"),
        values=run.results[1].values[[2, 0]],
        curve=run.results[1].curve[[2, 0]],
        gold_query=np.array([0, 1]),
        gold_names=("tabular/2024/A02", "tabular/2024/A00"),
        gold_ranks=np.array([7, 9]),
    )
    found = summarise(replace(run, results=(run.results[0], short, *run.results[2:])))
    assert found.queries == ("q000", "q002")
    assert found.left_out == 1
    assert [float(row.means[0]) for row in found.rows] == [1.0] * 4
    assert "1 queries that not every cell could measure are left out" in list(found.notes())
    # The golds of the shorter cell were put in the baseline's order: ranks 9 and 7, both below 8.
    assert found.groups[0].recall.tolist() == [1.0, 0.5, 1.0, 1.0]


def test_the_tables_of_a_study(summary: Summary) -> None:
    text = tables.markdown(summary)
    assert text.startswith("# A \\<study> of $5 & more\n")
    assert "| cell | recall@k | 95 % interval | difference | p (Holm) | mrr |" in text
    assert re.search(r"\| retriever = hybrid \| \*\*1\.000\*\* ↑ \| \[1\.000, 1\.000\]", text)
    latex = tables.latex(summary)
    assert "A \\textless{}study\\textgreater{} of \\$5 \\& more." in latex
    assert "retriever = hybrid & \\textbf{1.000}$\\uparrow$ & [1.000, 1.000] & +0.500" in latex
    assert latex.count("\\\\") == 5
    plain = tables.text_table(summary)
    assert "1.000↑*" in plain
    assert len({len(line.rstrip()) for line in plain.splitlines()}) <= 2


def test_a_page_keeps_its_prose(tmp_path: Path, summary: Summary) -> None:
    page = write(
        tmp_path, f"# Title\n\nBefore.\n\n{pages.BEGIN}\nold\n{pages.END}\n\nAfter.\n", "p.md"
    )
    pages.fill_page(page, summary)
    once = page.read_text(encoding="utf-8")
    assert "Before." in once and "After." in once and "old" not in once
    assert "| baseline | 0.500 |" in once
    pages.fill_page(page, summary)
    assert page.read_text(encoding="utf-8") == once
    pages.fill_page(tmp_path / "new.md", summary)
    assert "| baseline | 0.500 |" in (tmp_path / "new.md").read_text(encoding="utf-8")
    with pytest.raises(StudyError, match="no lines"):
        pages.fill_page(write(tmp_path, "no marks", "q.md"), summary)


# -- figures and the report


def test_figures_are_the_same_bytes_twice(summary: Summary) -> None:
    first, second = drawing.figures(summary), drawing.figures(summary)
    assert [each.name for each in first] == [
        "recall-at-k",
        "by-source-and-year",
        "factor-retriever",
        "factor-k",
    ]
    assert [(each.svg, each.png) for each in first] == [(each.svg, each.png) for each in second]
    assert all(each.png.startswith(b"\x89PNG") for each in first)
    assert not any("<dc:date>" in each.svg for each in first)


def test_equal_curves_are_drawn_once(study_of: Callable[..., Study]) -> None:
    found = summarise(made_up(study_of(), [[1.0, 0.0]] * 3 + [[0.0, 0.0]]))
    assert drawing._distinct(found) == [0, 3]


def test_an_inline_svg_names_no_address_and_repeats_no_id(summary: Summary) -> None:
    svgs = [inline(each.svg, each.caption) for each in drawing.figures(summary)]
    for svg in svgs:
        assert svg.startswith('<svg role="img" aria-label="')
        assert "http" not in svg
        ids = re.findall(r'\bid="([^"]+)"', svg)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', svg)) <= set(ids)


def test_the_report_is_one_page_without_a_network(run: StudyRun, tmp_path: Path) -> None:
    write_study(tmp_path, run)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h1>A &lt;study&gt; of $5 &amp; more</h1>" in page
    assert not re.search(r"https?:|//www|<script|<link|@import|src=", page)
    assert page.count("<svg") == page.count("<figure>") == 3
    assert "SAMPLE" in page.upper()
    assert str(tmp_path) not in page
    queries = {query.query_id: query.text for query in run.query_set.queries}
    shown = [each for each in summarise(run).worst if each.query_id in page]
    assert shown
    assert all(queries[each.query_id].split(" > ")[0].split()[0] in page for each in shown)


def test_the_files_of_a_study(run: StudyRun, tmp_path: Path) -> None:
    from pyarrow import parquet

    write_study(tmp_path, run)
    table = parquet.read_table(tmp_path / "results.parquet")
    assert table.num_rows == len(run.study.cells) * len(run.results[0].queries)
    for name in (
        "cell",
        "name",
        "axis.retriever",
        "axis.k",
        "query_id",
        "recall@k",
        "curve.recall@8",
    ):
        assert name in table.column_names
    assert "axis.preset" not in table.column_names
    record = json.loads((tmp_path / "study.json").read_text(encoding="utf-8"))
    assert [cell["name"] for cell in record["cells"]] == [cell.name for cell in run.study.cells]
    assert (tmp_path / "table.md").is_file() and (tmp_path / "table.tex").is_file()
    assert (tmp_path / "figures" / "recall-at-k.png").is_file()


def test_no_text_of_a_case_is_written(root: Path, sample_manuals: Path, tmp_path: Path) -> None:
    text = "Admitted with a zebrafever and type 2 diabetes."
    rows = [f'{number},n{number},"{text}","[""E11.22""]",2025' for number in (1, 2)]
    head = "hadm_id,note_id,input_text,output_icd_codes,year"
    write(tmp_path, "\n".join([head, *rows]) + "\n", "cases.csv")
    path = write(
        tmp_path,
        HEAD + '[queries]\ncases = "cases.csv"\n' + BASELINE + '[axes]\nquery_mode = ["windows"]\n',
    )
    out = tmp_path / "out"
    found = run_study(read_study(path), out, root, sample_manuals)
    write_study(out, found)
    assert len(found.results[0].queries) == 2
    for file in out.rglob("*"):
        assert not file.is_file() or b"zebrafever" not in file.read_bytes()


# -- the command


def test_the_command_prints_the_table(root: Path, sample_manuals: Path, tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + QUERIES + BASELINE + AXES_OF_STUDY)
    options = ["--out", tmp_path / "out", "--index-root", root, "--manuals", sample_manuals]
    result = CliRunner().invoke(ablate, [str(path), *map(str, options)])
    assert result.exit_code == 0, result.output
    assert "retriever = dense" in result.output
    assert "cells computed in" in result.output
    assert (tmp_path / "out" / "timings.json").is_file()


def test_the_command_refuses_a_bad_file(tmp_path: Path) -> None:
    path = write(tmp_path, "title = 3\n")
    result = CliRunner().invoke(ablate, [str(path)])
    assert isinstance(result.exception, TamError)


# -- the real manuals


@pytest.mark.real
def test_the_printed_numbers_of_the_bm25_study(real_manuals: Path, tmp_path: Path) -> None:
    """The page's table is what two of its cells give now."""
    folder = Path(__file__).parent.parent / "studies"
    page = (folder / "bm25.md").read_text(encoding="utf-8")
    text = (folder / "bm25.toml").read_text(encoding="utf-8").split("[axes]")[0]
    study = read_study(write(tmp_path, text + '[axes]\nstemmer = ["none"]\n'))
    found = summarise(run_study(study, tmp_path / "out", tmp_path / "indexes", real_manuals))
    assert len(found.queries) == 2000
    for row in found.rows:
        line = next(line for line in page.splitlines() if line.startswith(f"| {row.cell.name} |"))
        printed = [float(number) for number in re.findall(r"(?<![\w.\[])0\.\d{3}(?!\d)", line)]
        for mean in row.means:
            assert round(float(mean), 3) in printed
