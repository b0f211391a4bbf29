"""Lines of chunks, expansion of documents, and the rules by which a query's terms count."""

from __future__ import annotations

from pathlib import Path

import bm25s
import numpy as np
import pytest
from searchable import make_chunk, make_index

from indexers.building.build import build
from indexers.building.expansion import short_forms
from indexers.building.lines import lines_of
from indexers.folder.opened import open_folder
from indexers.folder.verify import verify
from indexers.legs.bm25.matrix import build_bm25
from indexers.legs.bm25.scores import Bm25
from indexers.legs.lines.leg import GRAM_OPTIONS
from indexers.legs.model import PLAIN, TermRule
from indexers.legs.tokenise import Tokeniser, TokenOptions
from manuals.library.editions import Library, open_manuals
from retrievers.search.index import Index, open_index
from retrievers.search.settings import SearchSettings
from tam.errors import BadIndex, BadOption
from tam.settings import BuildSettings

YEAR = 2025


@pytest.fixture(scope="module")
def library(sample_manuals: Path) -> Library:
    return open_manuals(sample_manuals)


@pytest.fixture(scope="module")
def lined(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Index:
    """The sample's ICD-10-CM manuals with lines and expanded documents."""
    settings = BuildSettings(encoder="hash", lines=True, expand_documents=True, statistics="source")
    out = tmp_path_factory.mktemp("lined")
    return open_index(build(library, out, settings, ("icd",))[0].path)


@pytest.mark.parametrize(
    ("word", "grams"),
    [
        ("galactose", ["^gal", "gala", "alac", "lact", "acto", "ctos", "tose", "ose$"]),
        ("Devic's", ["^dev", "devi", "evic", "vic$"]),
        ("of", []),
        ("hip", ["^hip", "hip$"]),
        ("q", ["^q$"]),
    ],
)
def test_grams(word: str, grams: list[str]) -> None:
    assert Tokeniser(GRAM_OPTIONS).terms(word) == grams


def test_a_line_for_each_code_without_what_it_excludes(lined: Index, library: Library) -> None:
    manual = library.manual("tabular", YEAR)
    edition = next(e for e in lined.manifest.editions if e.name == f"tabular/{YEAR}")
    chunks = [lined.stored.chunks.chunk(row) for row in range(edition.start, edition.stop)]
    lines = lines_of(manual, chunks)
    codes = [section for section in manual.sections if section.kind != "chapter"]
    assert len(lines) == len(chunks)
    assert all(lines)
    flat = [line for of_chunk in lines for line in of_chunk]
    for section in codes:
        for note in section.notes:
            if note.kind == "inclusionTerm":
                assert any(section.title in line and note.text in line for line in flat)
            elif note.kind.startswith("excludes"):
                assert not any(note.text in line for line in flat)


def test_a_chunk_scores_by_its_best_line(tmp_path: Path) -> None:
    long = "\n".join(f"harbour lantern orchard number {n}" for n in range(60))
    chunks = [
        make_chunk("ussg", 2025, "§2A1.1", f"{long}\nGalactose disorder\n{long}"),
        make_chunk("ussg", 2025, "§2B1.1", "Harbour lantern"),
        make_chunk("ussg", 2025, "§2C1.1", "An orchard of pebbles and shells"),
    ]
    index = make_index(tmp_path / "legal", chunks)
    assert index.search("galactosuria", retriever="bm25") == []
    hits = index.search("galactosuria", retriever="bm25_lines")
    assert hits[0].citation == "§2A1.1"
    assert set(hits[0].legs) == {"bm25_lines_ngrams"}
    # One slice and several give each row the same score.
    lines, rows = index.stored.ranker("grams").lines, [slice(0, 1), slice(2, 3)]
    every = lines.scores("orchard shells", [slice(0, 3)], PLAIN)
    some = lines.scores("orchard shells", rows, PLAIN)
    np.testing.assert_array_equal(some, every[[0, 2]])
    assert every[2] > every[0] > 0


def test_lines_and_expansion_change_no_text(lined: Index, sample_icd_index: Path) -> None:
    plain = open_folder(sample_icd_index)
    assert plain.chunks.texts() == lined.stored.chunks.texts()
    assert verify(lined.path) == []
    assert not plain.manifest.expanded_with
    assert lined.manifest.expanded_with == ("index_path", "abbreviations")


def test_an_expanded_chunk_holds_the_words_of_the_index(
    lined: Index, sample_icd_index: Path, library: Library
) -> None:
    plain = open_folder(sample_icd_index)
    held = plain.chunks.rows_by_key("tabular", YEAR)
    tokeniser = Tokeniser()
    ours, theirs = lined.stored.bm25.documents(), plain.bm25.documents()
    new = 0
    for entry in library.manual("index", YEAR).sections:
        for ref in entry.refs:
            for row in held.get(ref.target, ()) if ref.kind == "code" else ():
                words = set(tokeniser.terms(entry.key))
                assert words <= set(ours[row])
                new += bool(words - set(theirs[row]))
    assert new > 20


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (
            "acquired immune deficiency syndrome [AIDS]",
            {("acquired immune deficiency syndrome", "AIDS")},
        ),
        ("the old lantern keeper disease (LKD).", {("lantern keeper disease", "LKD")}),
        ("Chronic kidney disease (stage 5) (CKD)", set()),
        ("a pebble (see E11.22)", set()),
        ("glucose-6-phosphate lantern (G6PL)", {("glucose-6-phosphate lantern", "G6PL")}),
        ("nothing here (XYZ)", set()),
    ],
)
def test_abbreviations(text: str, pairs: set[tuple[str, str]]) -> None:
    assert set(short_forms(text)) == pairs


TEXTS = [
    "infection of the foot",
    "infection infection of a tooth",
    "pebble beach",
    "a long text on the infection of foot and hand and tooth and ear",
    "foot",
    "tooth tooth",
]


@pytest.fixture(scope="module")
def bm25(tmp_path_factory: pytest.TempPathFactory) -> Bm25:
    folder = tmp_path_factory.mktemp("bm25")
    build_bm25(TEXTS, [0, 3, 6], folder, TokenOptions())
    return Bm25(folder, TokenOptions())


def test_a_repeated_term_counts_once_where_that_is_wanted(bm25: Bm25) -> None:
    once = TermRule(distinct=True)
    np.testing.assert_array_equal(
        bm25.scores("infection infected foot", rule=once), bm25.scores("infection foot")
    )
    assert bm25.scores("infection infected foot")[0] > bm25.scores("infection foot")[0]


def test_local_idf_is_that_of_the_rows_searched(bm25: Bm25, tmp_path: Path) -> None:
    """As if the other block were not there, but for the mean length."""
    part = slice(3, 6)
    local = bm25.scores("tooth foot", [part], TermRule(local=True))
    plain = bm25.scores("tooth foot", [part])
    rarity = np.log1p((3 - 2 + 0.5) / (2 + 0.5)) / bm25.idf[bm25.numbers("tooth")[0]]
    assert local[2] == pytest.approx(plain[2] * rarity)
    np.testing.assert_allclose(
        bm25.scores("tooth foot", rule=TermRule(local=True)), bm25.scores("tooth foot"), rtol=1e-6
    )


def test_statistics_by_source_equal_bm25s_on_each_source(tmp_path: Path) -> None:
    options = TokenOptions()
    build_bm25(TEXTS, [0, 3, 6], tmp_path, options, groups=[0, 3, 6])
    ours = Bm25(tmp_path, options).scores("infection of the foot and tooth")
    query = Tokeniser(options).terms("infection of the foot and tooth")
    for start in (0, 3):
        terms = [Tokeniser(options).terms(text) for text in TEXTS[start : start + 3]]
        theirs = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        theirs.index(terms, show_progress=False)
        known = [term for term in query if term in theirs.vocab_dict]
        np.testing.assert_allclose(ours[start : start + 3], theirs.get_scores(known), rtol=1e-5)


def test_statistics_by_source_need_a_variant_without_constants() -> None:
    with pytest.raises(BadOption, match="choose another variant"):
        BuildSettings(statistics="source", variant="bm25l")


def test_an_index_without_lines_says_so(sample_icd_index: Path) -> None:
    with pytest.raises(BadIndex, match="built without lines"):
        open_index(sample_icd_index).search("abscess", retriever="bm25_lines")


def test_settings_of_terms_are_checked() -> None:
    for wrong in ({"query_terms": "some"}, {"idf": "none"}, {"links": "maybe"}):
        with pytest.raises(BadOption):
            SearchSettings(**wrong)  # type: ignore[arg-type]


def test_a_title_names_its_section(tmp_path: Path) -> None:
    chunks = [
        make_chunk("title18", year, f"18 U.S.C. § {n}", body, title=title)
        for year in (2024, 2025)
        for n, title, body in (
            (1, "Lanterns and harbours", "whoever lights"),
            (2, "Pebbles", "lanterns and harbours, lanterns and harbours"),
            (3, "Definitions", "a pebble is"),
            (4, "Definitions", "a shell is"),
        )
    ]
    index = make_index(tmp_path / "legal", chunks)
    for query in ("Lanterns and harbours", "LANTERNS AND HARBOURS."):
        hit = index.search(query, 1, year=2024)[0]
        assert (hit.citation, hit.found_by) == ("18 U.S.C. § 1", "reference")
    assert index.search("lanterns harbours", 1, year=2024)[0].found_by == "search"
    # A title of several sections names none.
    assert index.search("definitions", 1, year=2024)[0].found_by == "search"
    assert index.search("Pebbles", 1, year=2024, references=False)[0].found_by == "search"
