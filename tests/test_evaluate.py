"""Evaluation end to end on small indexes: counts, views, files, comparison, explanation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from outline_manuals import legal_manuals, small_icd_index, small_legal_index

from eval.golds.coverage import Coverage
from eval.golds.gold import Gold
from eval.measuring.diagnosis import Diagnosis, Place
from eval.measuring.evaluate import EvalSettings, Evaluation, evaluate, plan_evaluation
from eval.measuring.views import RankedQuery, chunks_view, sections_view
from eval.queries.preparation import Wanted, prepare
from eval.queries.query_sets import Query, QuerySet, SetInfo
from eval.queries.trec import read_qrels, read_run
from eval.reporting.comparison import compare_folders, comparison_lines, verdict
from eval.reporting.explain import explain_lines, read_diagnoses
from eval.reporting.report import table_lines, write_evaluation
from retrievers.search.index import Index
from retrievers.search.settings import SearchSettings
from tam.cli import main
from tam.errors import BadCases, BadOption

BM25 = SearchSettings(retriever="bm25")
SETTINGS = EvalSettings(ks=(1, 2, 8), budgets=(20, 1000), search=BM25)


@pytest.fixture(scope="module")
def legal(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return small_legal_index(tmp_path_factory.mktemp("legal"))


def a_set(*entries: tuple[Query, Sequence[tuple[str, int, str]]]) -> QuerySet:
    golds = [Gold(query.query_id, *gold) for query, given in entries for gold in given]
    return QuerySet(SetInfo("test"), tuple(query for query, _ in entries), tuple(golds))


S922, S924 = "18 U.S.C. § 922", "18 U.S.C. § 924"
MIXED = a_set(
    (
        Query("a", "felon owning a rifle, stolen", 2025),
        [("title18", 2025, S922), ("ussg", 2025, "§2K2.1"), ("ussg", 2025, "§2K2.5")],
    ),
    (Query("b", "prison", 2021), [("title18", 2021, S924), ("ussg", 2021, "§2K2.4")]),
    (Query("c", "zebra", 2025), [("title18", 2025, S924)]),
    (Query("d", "no golds", 2025), []),
    (Query("e", "not there", 2025), [("ussg", 2025, "§8A1.1")]),
    (Query("f", "no year", None), [("title18", 2025, S924)]),
    (Query("g", "no edition", 2019), [("title18", 2019, S924)]),
)


def test_what_is_measured_and_what_is_not(legal: Index) -> None:
    found = evaluate(legal, MIXED, SETTINGS)
    counts = found.counts
    assert [query.query_id for query in found.queries] == ["a", "b", "c"]
    assert (counts.queries, counts.measured, counts.golds) == (7, 3, 4)
    assert (counts.without_golds, counts.all_missing) == (1, 1)
    assert (counts.no_year, counts.no_edition, counts.found_nothing) == (1, 1, 1)
    assert counts.missing == {"no edition": 2, "no section": 2}
    lines = "\n".join(found.notes)
    for words in ("have no year and were left out", "f", "without an edition here", "g"):
        assert words in lines
    assert "searched without it; another --year-policy takes another edition: b" in lines


def test_a_query_that_finds_nothing_counts_zero(legal: Index) -> None:
    found = evaluate(legal, MIXED, SETTINGS)
    # a: both golds that are in the index; b: its one; c: none.
    assert found.column("chunks.recall@8").tolist() == [1, 1, 0]
    overall = found.groups[0]
    names = [str(score) for score in found.scores]
    assert overall.means[names.index("chunks.recall@8")] == pytest.approx(2 / 3)
    assert overall.means[names.index("sections.recall@8")] == pytest.approx(2 / 3)


def test_groups_by_source_year_and_origin(legal: Index) -> None:
    found = evaluate(legal, MIXED, SETTINGS)
    groups = {(group.by, group.name): (group.queries, group.golds) for group in found.groups}
    assert groups == {
        ("overall", "overall"): (3, 4),
        ("source", "title18"): (3, 3),
        ("source", "ussg"): (1, 1),
        ("year", "2021"): (1, 1),
        ("year", "2025"): (2, 3),
        ("origin", "given"): (3, 4),
    }
    names = [str(score) for score in found.scores]
    for group in found.groups:
        for name, mean, low, high in zip(names, group.means, group.low, group.high, strict=True):
            assert low - 1e-9 <= mean <= high + 1e-9, name


def test_the_year_filter_and_the_policy(legal: Index) -> None:
    query = a_set((Query("a", "prison", 2021), [("title18", 2021, S924)]))
    job = plan_evaluation(legal, query, SETTINGS)
    assert job.filters[0].editions == ("title18/2021",)
    nearest = plan_evaluation(legal, query, replace(SETTINGS, policy="nearest"))
    assert nearest.filters[0].editions == ("title18/2021", "ussg/2025")
    every = plan_evaluation(legal, query, replace(SETTINGS, year_filter=False))
    assert every.filters[0].editions is None
    with_filter = evaluate(legal, query, SETTINGS)
    without = evaluate(legal, query, replace(SETTINGS, year_filter=False))
    assert with_filter.column("sections.recall@1").tolist() == [1]
    # The same words stand in both years; the earlier id comes first.
    assert without.column("sections.recall@1").tolist() == [1]
    newer = a_set((Query("a", "prison", 2025), [("title18", 2025, S924)]))
    assert evaluate(legal, newer, SETTINGS).column("sections.recall@1").tolist() == [1]
    lost = evaluate(legal, newer, replace(SETTINGS, year_filter=False))
    assert lost.column("sections.recall@1").tolist() == [0]
    assert lost.column("sections.recall@2").tolist() == [1]


def test_a_source_limits_search_and_golds(legal: Index) -> None:
    found = evaluate(legal, MIXED, replace(SETTINGS, sources=("ussg",)))
    assert found.counts.golds == 1
    assert found.counts.other_sources == 5
    assert {gold.source for gold in found.views["sections"].golds} == {"ussg"}
    one = QuerySet(MIXED.info, (replace(MIXED.queries[0], source="ussg"),), MIXED.golds[:3])
    own = evaluate(legal, one, SETTINGS)
    assert all(name.startswith("ussg/2025/") for name in own.views["chunks"].names[0])


# -- views


def rows_of(index: Index, *names: str) -> list[int]:
    return [index.stored.chunks.row_of_id[name] for name in names]


G, H = "title18/2025/18_U.S.C._§_922(g)", "title18/2025/18_U.S.C._§_922(h)"
NOTES, R924 = "title18/2025/18_U.S.C._§_922_Notes", "title18/2025/18_U.S.C._§_924"
STOLEN, APP, HIST = (
    f"ussg/2025/§2K2.1{part}" for part in ("(b)(4)", "_Application_Notes", "_Historical_Note")
)


def test_sections_collapse_in_rank_order(legal: Index) -> None:
    coverage = Coverage(legal.stored)
    rows = rows_of(legal, NOTES, APP, G, R924, H, STOLEN, HIST)
    golds = (Gold("q", "title18", 2025, S922), Gold("q", "ussg", 2025, "§2K2.1(b)(4)"))
    ranked = [RankedQuery("q", golds, rows, [7.0, 6, 5, 4, 3, 2, 1])]
    sections = sections_view(coverage, ranked)
    assert [name.split("/")[-1] for name in sections.names[0]] == [
        "18 U.S.C. § 922 Notes",  # an editor's note is not the statute
        "§2K2.1",  # the whole guideline, since the gold in it is another part
        "18 U.S.C. § 922",  # the gold; § 922(h) at rank 5 adds nothing
        "18 U.S.C. § 924",
        "§2K2.1(b)(4)",  # the gold
        "§2K2.1 Historical Note",
    ]
    assert sections.judged.first.tolist() == [3, 5]
    chunks = chunks_view(coverage, ranked)
    assert chunks.judged.first.tolist() == [3, 6]
    assert chunks.judged.covering[0].tolist() == [False, False, True, False, True, True, False]
    assert sections.judged.tokens.sum() < chunks.judged.tokens.sum()


def test_one_chunk_with_two_golds_takes_two_positions_among_sections(tmp_path: Path) -> None:
    index = small_icd_index(tmp_path)
    coverage = Coverage(index.stored)
    golds = tuple(Gold("q", "tabular", 2025, key) for key in ("J44.1", "J44.9"))
    ranked = [RankedQuery("q", golds, rows_of(index, "tabular/2025/J44"), [1.0])]
    sections = sections_view(coverage, ranked).judged
    assert sections.first.tolist() == [1, 2]
    chunks = chunks_view(coverage, ranked).judged
    assert chunks.first.tolist() == [1, 1]
    assert sections.tokens.sum() == chunks.tokens.sum()


def test_nothing_to_measure_is_said(legal: Index) -> None:
    found = evaluate(legal, a_set((Query("d", "x y", 2025), [])), SETTINGS)
    lines = list(table_lines(found))
    assert lines[0] == "No query could be measured."
    assert found.values.shape == (0, len(found.scores))


# -- files


def written(index: Index, folder: Path, query_set: QuerySet = MIXED) -> Evaluation:
    coverage = Coverage(index.stored)
    found = evaluate(index, query_set, SETTINGS, coverage=coverage)
    write_evaluation(folder, found, index, coverage)
    return found


def test_files_give_other_tools_the_same_numbers(legal: Index, tmp_path: Path) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    found = written(legal, tmp_path)
    names = {
        "recall@2": "R@2",
        "ndcg@8": "nDCG@8",
        "mrr": "RR",
        "precision@2": "P@2",
        "hit@1": "Success@1",
    }
    for view, only in (("sections", names), ("chunks", {"mrr": "RR", "precision@2": "P@2"})):
        suffix = "" if view == "sections" else f".{view}"
        run = [
            ir_measures.ScoredDoc(row.query_id, row.doc_id, row.score)
            for row in read_run(tmp_path / f"run{suffix}.trec")
        ]
        qrels = [
            ir_measures.Qrel(row.query_id, row.doc_id, row.grade)
            for row in read_qrels(tmp_path / f"qrels{suffix}.trec")
        ]
        for ours, theirs in only.items():
            measure = ir_measures.parse_measure(theirs)
            values = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
            assert found.column(f"{view}.{ours}").tolist() == [
                values[query.query_id] for query in found.queries
            ], (view, ours)


def test_the_same_evaluation_gives_the_same_bytes(legal: Index, tmp_path: Path) -> None:
    for name in ("a", "b"):
        written(legal, tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert {"run.trec", "qrels.trec", "per_query.parquet", "report.json", "golds.jsonl"} <= set(
        files
    )
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_no_file_holds_the_text_of_a_query(legal: Index, tmp_path: Path) -> None:
    secret = "felon with a rifle quagga"
    written(legal, tmp_path, a_set((Query("a", secret, 2025), [("title18", 2025, S922)])))
    for path in tmp_path.iterdir():
        assert b"quagga" not in path.read_bytes(), path.name


def test_per_query_table_and_report(legal: Index, tmp_path: Path) -> None:
    from pyarrow import parquet

    found = written(legal, tmp_path)
    table = parquet.read_table(tmp_path / "per_query.parquet")
    assert table.column("query_id").to_pylist() == ["a", "b", "c"]
    assert table.column("golds").to_pylist() == [2, 1, 1]
    assert (
        table.column("sections.recall@8").to_pylist() == found.column("sections.recall@8").tolist()
    )
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["counts"]["measured"] == 3
    assert report["groups"][0]["scores"]["chunks.recall@8"]["mean"] == pytest.approx(2 / 3)
    assert str(tmp_path) not in json.dumps(report)


# -- explain


def explained(folder: Path, query: str, k: int = 8) -> str:
    return "\n".join(explain_lines(read_diagnoses(folder, query), k))


def test_explanations(legal: Index, tmp_path: Path) -> None:
    other = (Query("h", "prison", 2021), [("title18", 2025, S924)])
    entries = [
        (q, [(g.source, g.year, g.key) for g in MIXED.golds if g.query_id == q.query_id])
        for q in MIXED.queries
    ]
    written(legal, tmp_path, a_set(*entries, other))
    text = explained(tmp_path, "a")
    assert "a: 2 of 3 golds in the top 8" in text
    assert (
        "ussg/2025/§2K2.5  grade 3, given\n    missed: not indexed (the edition has no such section)"
        in text
    )
    assert "bm25 1" in text
    assert "missed: not indexed (the index has no such edition)" in explained(tmp_path, "b")
    assert "missed: no shared term" in explained(tmp_path, "c")
    text = explained(tmp_path, "h")
    assert "missed: other year (the search was limited to title18/2021)" in text
    assert "in another year: chunk title18/2021/18_U.S.C._§_924 at rank 1" in text
    assert "below k = 1" in explained(tmp_path, "a", 1)
    with pytest.raises(BadOption, match="no golds of query 'zz'"):
        read_diagnoses(tmp_path, "zz")
    with pytest.raises(BadCases, match="no evaluation here"):
        read_diagnoses(tmp_path / "none", "a")


def test_a_section_found_in_another_year_and_one_too_deep(legal: Index) -> None:
    query_set = a_set((Query("q", "prison", 2025), [("title18", 2025, S924)]))
    settings = replace(SETTINGS, year_filter=False, depth=1)
    (diagnosis,) = evaluate(legal, query_set, settings).diagnoses
    assert (diagnosis.reason, diagnosis.detail) == ("other year", "found in 2021")
    query_set = a_set(
        (Query("q", "felon rifle servant", 2025), [("title18", 2025, "18 U.S.C. § 922(h)")])
    )
    (diagnosis,) = evaluate(legal, query_set, replace(SETTINGS, depth=1)).diagnoses
    assert diagnosis.reason == "too deep"
    assert diagnosis.nearest is None or diagnosis.nearest.rank == 1


# -- compare


def test_comparison(legal: Index, tmp_path: Path) -> None:
    entries = [
        (Query(f"q{n:02}", "prison" if n % 3 else "rifle", 2025), [("title18", 2025, S924)])
        for n in range(30)
    ]
    written(legal, tmp_path / "a", a_set(*[(replace(q, text="zebra"), g) for q, g in entries]))
    written(legal, tmp_path / "b", a_set(*entries))
    found = compare_folders(tmp_path / "a", tmp_path / "b", ["recall@8", "mrr"])
    assert found.queries == 30
    assert (found.results[0].wins, found.results[0].ties, found.results[0].losses) == (20, 10, 0)
    assert [each.query_id for each in found.wins[:2]] == ["q01", "q02"]
    assert "B is better, by more than chance" in verdict(found.results[0])
    lines = "\n".join(comparison_lines(found))
    assert "B wins on (sections.recall@8, 20 queries):" in lines
    same = compare_folders(tmp_path / "a", tmp_path / "a")
    assert "are equal" in verdict(same.results[0])
    with pytest.raises(BadOption, match="not in both"):
        compare_folders(tmp_path / "a", tmp_path / "b", ["recall@77"])
    with pytest.raises(BadCases, match="no evaluation here"):
        compare_folders(tmp_path / "a", tmp_path / "none")


# -- preparation from files


def case_files(folder: Path) -> tuple[Path, Path, Path]:
    cases = folder / "cases.csv"
    cases.write_text(
        'docket_id,input,output\n1,"Guilty under 18 U.S.C. § 922(g)(1) and 8 U.S.C. § 1326.",15\n'
        "2,Guilty under 18 U.S.C. § 924(c).,20\n3,No citation.,7\n",
        encoding="utf-8",
    )
    years = folder / "years.csv"
    years.write_text("docket_id,sentencing_year\n1,2025\n2,2021\n9,2021\n", encoding="utf-8")
    gold = folder / "gold.jsonl"
    gold.write_text(
        '{"case_id": "1", "year": 2025, "gold_sections": ["18 U.S.C. § 922", "§3E1.1"]}\n'
        '{"case_id": "2", "year": 2025, "gold_sections": ["18 U.S.C. § 924"]}\n'
        '{"case_id": "8", "year": 2025, "gold_sections": ["§3E1.1"]}\n',
        encoding="utf-8",
    )
    return cases, years, gold


def test_cases_years_and_golds_together(legal: Index, tmp_path: Path) -> None:
    cases, years, gold = case_files(tmp_path)
    prepared = prepare(legal, cases, years, [gold])
    assert [(query.query_id, query.year) for query in prepared.queries] == [
        ("1", 2025),
        ("2", 2021),
        ("3", None),
    ]
    assert {(gold.query_id, gold.section, gold.origin) for gold in prepared.golds} == {
        ("1", "title18/2025/18 U.S.C. § 922", "given"),
        ("1", "ussg/2025/§3E1.1", "given"),
        ("1", "ussg/2025/§2K2.1", "mapped"),
        ("1", "ussg/2025/§2L1.2", "mapped"),
        ("2", "title18/2021/18 U.S.C. § 924", "given"),
    }
    notes = "\n".join(prepared.notes)
    assert "1 cited statutes are of other titles than 18" in notes
    assert "1 ids of the years file are of no query: 9" in notes
    assert "1 ids of the golds file are of no query: 8" in notes
    assert "another year in the golds file" in notes
    mapped = prepare(legal, cases, years, [gold], Wanted(origins=("mapped",)))
    assert {gold.origin for gold in mapped.golds} == {"mapped"}
    direct = prepare(legal, cases, years, [gold], Wanted(min_grade=3))
    assert {gold.grade for gold in direct.golds} == {3}
    with pytest.raises(BadCases, match="icd cases, but the index is of legal"):
        icd = tmp_path / "icd.csv"
        icd.write_text("hadm_id,input_text,output_icd_codes\n1,x,I10\n", encoding="utf-8")
        prepare(legal, icd)


# -- the command line


def tam(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def stored(index: Index) -> Path:
    """The index's folder with its manuals beside it, as a build leaves them."""
    from manuals.library.store import save_manual

    for manual in legal_manuals():
        save_manual(manual, index.path / "manuals")
    return index.path


def test_eval_from_the_command_line(tmp_path: Path) -> None:
    folder = stored(small_legal_index(tmp_path / "index"))
    cases, years, gold = case_files(tmp_path)
    common = ("--index", folder, "--queries", cases, "--years", years, "--retriever", "bm25")
    result = tam("eval", *common, "--gold", gold, "-k", "1,8", "--out", tmp_path / "a")
    assert result.exit_code == 0, result.output
    assert "2 of 3 queries measured" in result.output
    assert "sections: results collapsed" in result.output
    assert "1 queries have no year and were left out" in result.output
    assert (tmp_path / "a" / "report.json").is_file()
    result = tam("eval", *common, "--json", "--view", "chunks")
    report = json.loads(result.output)
    assert next(iter(report["groups"][0]["scores"])).startswith("chunks.")
    result = tam("eval", *common, "--no-year-filter", "--out", tmp_path / "b")
    assert result.exit_code == 0, result.output
    assert "no year filter" in result.output
    result = tam("eval", "compare", tmp_path / "a", tmp_path / "b")
    assert result.exit_code == 0, result.output
    assert "queries in common" in result.output
    result = tam("eval", "explain", "1", "--out", tmp_path / "a")
    assert "1: " in result.output
    assert "golds in the top 8" in result.output
    assert "Guilty" not in result.output
    assert "are private and not kept here" in result.output
    shown = ("--out", tmp_path / "a", "--index", folder, "--queries", cases)
    result = tam("eval", "explain", "1", *shown)
    assert isinstance(result.exception, BadOption) and "add --show-private" in str(result.exception)
    result = tam("eval", "explain", "1", *shown, "--show-private")
    assert "Guilty under 18 U.S.C. § 922(g)(1)" in result.output
    result = tam("eval", "explain", "1", "--out", tmp_path / "a", "--show-private")
    assert "name the file of the queries" in str(result.exception)
    other = tmp_path / "other.csv"
    other.write_text(cases.read_text(encoding="utf-8") + "4,More.,1\n", encoding="utf-8")
    result = tam("eval", "explain", "1", *shown[:-1], other, "--show-private")
    assert "not the file that was evaluated" in str(result.exception)


def test_compare_and_explain_show_the_texts_of_a_public_set(tmp_path: Path) -> None:
    index = small_legal_index(tmp_path / "index")
    stored(index)
    entry = (Query("q", "zebra", 2025), [("title18", 2025, S924)])
    found = (Query("q", "prison", 2025), entry[1])
    for name, each in (("a", entry), ("b", found)):
        query_set = replace(a_set(each), info=SetInfo("made", private=False))
        written(index, tmp_path / name, query_set)
    result = tam("eval", "compare", tmp_path / "a", tmp_path / "b", "--index", index.path)
    assert "  q  0.000 -> 1.000\n      prison\n" in result.output
    assert f"      title18/2025/{S924}  rank - -> 1: 18 U.S.C. § 924 P" in result.output
    result = tam("eval", "explain", "q", "--out", tmp_path / "b", "--index", tmp_path / "none")
    assert "no text of golds" in result.output and "    prison\n" in result.output


def test_explain_says_what_a_link_or_a_reference_brought() -> None:
    gold = Gold("q", "title18", 2025, S924)
    for by, words in (("link", " by link ("), ("reference", " by reference ("), ("search", "2 (")):
        found = Diagnosis(gold, found=Place("c", 2, {"bm25": 3}, by), section_rank=2)
        assert Diagnosis.from_json(found.to_json()) == found
        assert f"chunk c at rank {'2' if by != 'search' else ''}{words}" in "\n".join(
            explain_lines([found], 8)
        )


@pytest.mark.parametrize(
    "arguments", [("eval",), ("eval", "--queries", "none.csv", "--index", "nowhere")]
)
def test_mistakes_are_one_line(arguments: tuple[str, ...]) -> None:
    result = tam(*arguments)
    assert result.exit_code != 0
    assert isinstance(result.exception, BadOption) or "nowhere" in str(result.exception)
    assert "\n" not in str(result.exception)


def test_bad_numbers_are_refused() -> None:
    result = tam("eval", "--queries", "x.csv", "-k", "0,5")
    assert result.exit_code == 2
    assert "whole numbers from 1" in result.output


def test_queries_from_the_command_line(tmp_path: Path) -> None:
    folder = stored(small_legal_index(tmp_path / "index"))
    out = tmp_path / "set.jsonl"
    result = tam(
        "queries", "make", "title18-heading", "--year", "2021,2025", "--index", folder, "--out", out
    )
    assert result.exit_code == 0, result.output
    assert "6 of 6 queries, seed 7" in result.output
    assert "repeat text of their golds" in result.output
    result = tam("eval", "--queries", out, "--index", folder, "--retriever", "bm25", "-k", "1,5")
    assert result.exit_code == 0, result.output
    assert "6 of 6 queries measured" in result.output
    assert "the queries repeat text of their golds" in result.output
    assert tam("queries", "list").output.count("\n") == 8


def test_bootstrap_columns_share_resamples(legal: Index) -> None:
    found = evaluate(legal, MIXED, SETTINGS)
    overall = found.groups[0]
    names = [str(score) for score in found.scores]
    one, two = names.index("chunks.recall@8"), names.index("chunks.hit@8")
    assert np.array_equal(found.values[:, one], found.values[:, two])
    assert (overall.low[one], overall.high[one]) == (overall.low[two], overall.high[two])


@pytest.mark.real
def test_the_known_item_baseline(real_manuals: Path, tmp_path: Path) -> None:
    """Index paths against the Tabular List by the paper's rules: MEASURED.md has recall@1 0.60,
    @8 0.84, with copies of titles among the queries, which are left out here."""
    from searchable import make_index

    from chunkers.model.presets import chunk_manual
    from eval.queries.known_items.sets import make_queries
    from manuals.library.editions import open_manuals

    library = open_manuals(real_manuals)
    index = make_index(tmp_path, chunk_manual(library.manual("tabular", 2025)), dense=False)
    index.stored.__dict__["library"] = library
    query_set = make_queries("index-to-tabular", library, [2025], 2000, 7)
    found = evaluate(index, query_set, EvalSettings(ks=(1, 8), search=BM25))
    assert found.counts.measured == 2000
    assert found.column("chunks.recall@1").mean() == pytest.approx(0.60, abs=0.02)
    assert found.column("chunks.recall@8").mean() == pytest.approx(0.82, abs=0.02)
