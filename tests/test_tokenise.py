"""BM25 terms: codes and citations whole and in parts, folding, stems, stop words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexers.legs.tokenise import Tokeniser, TokenOptions, fold
from tam.errors import BadOption


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("E11.22", ["e11.22", "e11"]),
        ("s72.002A", ["s72.002a", "s72"]),
        ("I10", ["i10"]),
        ("§2K2.1(b)(4)", ["2k2.1(b)(4)", "2k2.1(b)", "2k2.1", "2k2"]),
        ("§§ 2A1.1-2A1.5", ["2a1.1-2a1.5", "2a1.1", "2a1", "2a1.5", "2a1"]),
        ("922(g)(1)", ["922(g)(1)", "922(g)", "922"]),
        ("18 U.S.C.§ 924(c)", ["18", "usc", "924(c)", "924"]),
        ("18 U.S.C. §§\u00a0922\u2013924", ["18", "usc", "922-924", "922", "924"]),
        ("section 3559A", ["section", "3559a"]),
        ("I.C.2.e", ["i.c.2.e"]),
        ("E08\u2013E13", ["e08-e13", "e08", "e13"]),
        ("COVID-19", ["covid-19", "covid", "19"]),
        ("$6,500", ["6500"]),
        ("2.5 mg", ["2.5", "mg"]),
        ("abscess(es)", ["abscess", "es"]),
        ("Méni\u00e8re\u2019s disease", ["menier", "diseas"]),
        ("non\u2010insulin", ["non", "insulin"]),
        ("convic\u00adtion", ["convict"]),
        ("felon.Next", ["felon", "next"]),
        ("...", []),
        ("", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert Tokeniser().terms(text) == terms


def test_a_section_number_is_not_part_of_a_longer_one() -> None:
    terms = Tokeniser().terms
    assert set(terms("32")) & set(terms("§132 §3282 §32A 1.32")) == set()


@pytest.mark.parametrize(
    ("options", "terms"),
    [
        (TokenOptions(), ["run", "without", "gun", "922(g)", "922"]),
        (TokenOptions(stemmer="none"), ["running", "without", "guns", "922(g)", "922"]),
        (TokenOptions(stopwords="none"), ["run", "without", "the", "gun", "922(g)", "922"]),
        (TokenOptions(parts=False), ["run", "without", "gun", "922(g)"]),
    ],
)
def test_options(options: TokenOptions, terms: list[str]) -> None:
    assert Tokeniser(options).terms("Running without the guns 922(g)") == terms


@pytest.mark.parametrize("wrong", [{"stemmer": "porter9"}, {"stopwords": "latin"}])
def test_unknown_options(wrong: dict[str, str]) -> None:
    with pytest.raises(BadOption, match="english, none"):
        TokenOptions(**wrong)


def test_counts_keep_repeats() -> None:
    assert Tokeniser().counts("gun, guns; 922(g) and 922(a)") == {
        "gun": 2,
        "922(g)": 1,
        "922": 2,
        "922(a)": 1,
    }


@given(st.text(max_size=200))
def test_terms_never_hold_white_space_and_repeat(text: str) -> None:
    terms = Tokeniser().terms(text)
    assert terms == Tokeniser().terms(text)
    assert all(term and not any(char.isspace() for char in term) for term in terms)
    assert terms == Tokeniser().terms(fold(text))
