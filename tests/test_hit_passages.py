"""The passage of a hit: which lines it shows, and the section that they are cited by."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.model.chunk import Chunk, Piece
from chunkers.model.finish import finish
from indexers.legs.tokenise import Tokeniser
from manuals.model.headings import full_name, full_title
from manuals.model.sections import Edition, Manual, ManualFile, Section
from retrievers.search.excerpts import excerpt_of
from retrievers.search.hits import Leg
from retrievers.search.index import Index, open_index
from retrievers.search.passage import SIZE, Weights, find_passage

#: key (citation), title, and text; indented by what stands below what
TREE = (
    ("§2K9.1", "Invented Devices", "§2K9.1. Invented Devices\n"),
    ("§2K9.1(b)", "Specific Offense Characteristics", "(b) Specific Offense Characteristics\n"),
    ("§2K9.1(b)(1)", "", "(1) If the device was stolen, increase by 2 levels. "),
    ("§2K9.1(b)(2)", "", "(2) If its plate was ground off, increase by 4 levels.\n"),
    ("§2K9.1, comment.", "Application Notes", "Application Notes:\n"),
    ("§2K9.1, comment. (n.7)", "Recklessness", "7. Recklessness. It means a lantern unattended.\n"),
    (
        "§2K9.1, comment. (n.8)",
        "Stolen Devices",
        "8. Stolen Devices.\n\n(A) The plate may be missing.\n"
        "(B) Knowledge. It does not matter that nobody knew of the ground-off plate.\n",
    ),
)
_PARENTS = (None, 0, 1, 1, 0, 4, 4)


@pytest.fixture(scope="module")
def manual() -> Manual:
    return made()


def made() -> Manual:
    starts = [sum(len(text) for _, _, text in TREE[:n]) for n in range(len(TREE) + 1)]
    ends = [starts[-1], starts[4], starts[3], starts[4], starts[-1], starts[6], starts[-1]]
    sections = tuple(
        Section(
            sections_key(n),
            "ussg", 2025, "section", 1, key, title,
            None if _PARENTS[n] is None else sections_key(_PARENTS[n]), (), (starts[n], ends[n]),
        )
        for n, (key, title, _) in enumerate(TREE)
    )  # fmt: skip
    edition = Edition(
        "ussg", 2025, "G", "2025", (ManualFile("g.pdf", "0" * 64, 1),), date(2025, 11, 1), None
    )
    text = "".join(text for _, _, text in TREE)
    return Manual(edition, text, sections, page_starts=(0, starts[4]))


def sections_key(number: int | None) -> str:
    key = TREE[number or 0][0]
    return re.sub(
        r", comment\.$",
        " Application Notes",
        re.sub(r", comment\. \(n\.(\d)\)", r" Application Note \1", key),
    )


def chunk_of(manual: Manual, first: int = 0, span: tuple[int, int] | None = None) -> Chunk:
    """The whole manual, or a stretch of it, as one chunk."""
    section = manual.sections[first]
    span = span or (section.span[0], len(manual.text.rstrip()))
    text = "Document: G\n\n" + manual.text[span[0] : span[1]]
    piece = Piece("x", "section", section, span, "Document: G", text)
    return finish(manual, [piece], lambda texts: [0] * len(texts))[0]


def weights(query: str) -> Weights:
    terms = dict.fromkeys(Tokeniser().terms(query), 1.0)
    return Weights(terms, terms)


@pytest.mark.parametrize(
    ("query", "citation", "page", "starts"),
    [
        ("nobody knew of the plate", "§2K9.1, comment. (n.8)", 2, "(B) Knowledge. It"),
        ("plate missing", "§2K9.1, comment. (n.8)", 2, "(A) The plate"),
        ("unattended lantern", "§2K9.1, comment. (n.7)", 2, "7. Recklessness. It"),
        ("plate ground off", "§2K9.1(b)(2)", 1, "(2) If its plate"),
        ("stolen device levels", "§2K9.1(b)(1)", 1, "(1) If the device"),
        ("specific characteristics", "§2K9.1(b)", 1, "(b) Specific"),
        ("invented", "§2K9.1", 1, "§2K9.1. Invented"),
        ("zebra", "§2K9.1", 1, "§2K9.1. Invented"),
    ],
)
def test_the_section_of_the_passage_is_cited(
    manual: Manual, query: str, citation: str, page: int, starts: str
) -> None:
    found = find_passage(chunk_of(manual), manual, weights(query), Tokeniser())
    assert found is not None
    passage, place = found
    assert (place.citation, place.pages and place.pages[0]) == (citation, page)
    assert passage.text.startswith(starts)
    assert place.title.startswith("Invented Devices")


def test_a_section_that_the_query_names_stays_the_name(manual: Manual) -> None:
    named = "§2K9.1(b)"
    found = find_passage(chunk_of(manual), manual, weights("plate ground"), Tokeniser(), named)
    assert found is not None
    assert found[1].citation == named
    assert found[0].text.startswith("(2) If its plate")
    elsewhere = chunk_of(manual, 5)
    found = find_passage(elsewhere, manual, weights("unattended"), Tokeniser(), named)
    assert found is not None
    assert found[1].citation == "§2K9.1, comment. (n.7)"


@pytest.mark.parametrize(
    ("dense", "bm25", "citation"),
    [(1, 4, "§2K9.1, comment. (n.8)"), (4, 1, "§2K9.1(b)(2)"), (1, 1, "§2K9.1(b)(2)")],
)
def test_a_window_that_ranked_the_chunk_best_holds_the_passage(
    manual: Manual, dense: int, bm25: int, citation: str
) -> None:
    chunk = chunk_of(manual)
    span = (chunk.text.index("8. Stolen"), len(chunk.text))
    legs = {"bm25": Leg(bm25, 1.0), "dense": Leg(dense, 1.0, span)}
    found = find_passage(chunk, manual, weights("plate ground off"), Tokeniser(), None, legs)
    assert found is not None
    assert found[1].citation == citation


def test_what_a_chunk_of_several_sections_covers(manual: Manual) -> None:
    notes = manual.sections[5]
    assert chunk_of(manual).citation == "§2K9.1"
    two = chunk_of(manual, 5)
    assert two.citation == "§2K9.1, comment. (n.7) through §2K9.1, comment. (n.8)"
    assert two.title.startswith("Invented Devices: Application Notes (")
    one = chunk_of(manual, 5, notes.span)
    assert (one.citation, one.title) == (notes.citation, full_title(manual, notes))


@given(
    query=st.lists(st.sampled_from(["plate", "off", "stolen", "lantern", "nobody", "levels", "8"]))
)
def test_the_cited_section_holds_the_passage(query: list[str]) -> None:
    whole = made()
    for first in range(len(TREE)):
        chunk = chunk_of(whole, first)
        found = find_passage(chunk, whole, weights(" ".join(query)), Tokeniser())
        assert found is not None
        passage, place = found
        section = whole.by_key[passage.key]
        assert section.citation == place.citation
        assert section.span[0] <= passage.span[0] < passage.span[1] <= section.span[1]
        assert chunk.text_span[0] <= passage.span[0] and passage.span[1] <= chunk.text_span[1]


QUERIES = (
    "felon with a firearm whose serial number was ground off",
    "bank fraud",
    "loss amount",
    "E11.22",
    "kidney disease in diabetes",
    "sepsis",
    "18 U.S.C. § 922",
)


def _check_hits(index: Index, query: str) -> None:
    for hit in index.search(query, k=20, collapse="off"):
        manual = index.library.manual(hit.source, hit.year)
        if hit.passage is None:
            assert (hit.citation, hit.pages) == (hit.covers, hit.covers_pages)
            continue
        section = manual.by_key[hit.passage.key]
        low, high = hit.passage.span
        assert section.span[0] <= low < high <= section.span[1]
        assert manual.text[low:high] == hit.passage.text
        assert (hit.citation, hit.path) == (section.citation, section.path)
        assert hit.provenance is not None
        assert hit.provenance.span[0] <= low and high <= hit.provenance.span[1]
        excerpt = excerpt_of(hit, {}, Tokeniser(), SIZE)
        shown = excerpt.text.strip("… ")
        assert shown in " ".join(hit.passage.text.split())
        if hit.pages:
            assert hit.pages == manual.pages((low, high))
        if hit.named:
            assert hit.citation == manual.by_key[hit.named.key].citation


@pytest.mark.parametrize("query", QUERIES)
def test_hits_of_the_sample(sample_legal_index: Path, sample_icd_index: Path, query: str) -> None:
    for folder in (sample_legal_index, sample_icd_index):
        _check_hits(open_index(folder), query)


@pytest.mark.real
@pytest.mark.parametrize("query", QUERIES)
def test_hits_of_the_real_manuals(real_legal_index: Path, query: str) -> None:
    _check_hits(open_index(real_legal_index), query)


@pytest.mark.real
@pytest.mark.parametrize(
    ("query", "citation"),
    [
        ("50 U.S.C. § 1705", "Appendix A > 50 U.S.C. § 1705"),
        ("18 USC 922(g)", "18 U.S.C. § 922(g)"),
        ("firearm stolen or altered serial number knowledge of the defendant strict liability",
         "§2K2.1, comment. (n.8)"),
    ],
)  # fmt: skip
def test_citations_of_the_real_manuals(real_legal_index: Path, query: str, citation: str) -> None:
    hits = open_index(real_legal_index).search(query, k=8, year=2025, retriever="bm25")
    assert citation in [hit.citation for hit in hits]
    if "§" in query:
        assert "U.S.C." in query and hits[0].citation == citation


@pytest.mark.parametrize(
    ("citation", "title", "name"),
    [
        ("Injury > lung", "lung", "Injury > lung"),
        ("Accident > aircraft", "aircraft (in transit)", "Accident > aircraft (in transit)"),
        ("Loa loa", "Loa loa (loiasis)", "Loa loa (loiasis)"),
        ("E11", "Type 2 diabetes", "E11 Type 2 diabetes"),
        ("§3E1.1", "", "§3E1.1"),
        ("Front Matter", "Front Matter", "Front Matter"),
    ],
)
def test_names(citation: str, title: str, name: str) -> None:
    assert full_name(citation, title) == name
