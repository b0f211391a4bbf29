"""Options declared once: the same names, checks and defaults at every surface."""

from __future__ import annotations

import inspect
from typing import Any

import click
import pytest
from click.testing import CliRunner

from eval.ablation.spec.axes import AXES
from retrievers.search.settings import Filter, SearchSettings
from retrievers.serving.service import Service
from tam.errors import BadOption
from tam.options import click_options, declared, from_texts, with_parameters
from tam.settings import BuildSettings


@pytest.mark.parametrize("model", [BuildSettings, SearchSettings, Filter])
def test_no_option_given_is_the_default(model: type) -> None:
    found: dict[str, Any] = {}

    @click.command()
    @click_options(model)
    def command(**chosen: Any) -> None:
        found.update(chosen)

    result = CliRunner().invoke(command, [], catch_exceptions=False)
    assert result.exit_code == 0
    assert model(**found) == model()
    assert set(found) == set(declared(model))
    for each in declared(model).values():
        assert each.option.help.endswith("."), each.name


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--weights", "bm25=1,dense=2"], {"weights": {"bm25": 1.0, "dense": 2.0}}),
        (["--depth", "50", "--rrf-k", "10"], {"depth": 50, "rrf_k": 10}),
        (["--no-references", "--links", "on"], {"references": False, "links": "on"}),
        (["--retriever", "dense+bm25"], {"retriever": "dense+bm25"}),
        (["--collapse", "off"], {"collapse": "off"}),
    ],
)
def test_words_of_a_command(words: list[str], expected: dict[str, Any]) -> None:
    found: dict[str, Any] = {}

    @click.command()
    @click_options(SearchSettings)
    def command(**chosen: Any) -> None:
        found.update(chosen)

    assert CliRunner().invoke(command, words, catch_exceptions=False).exit_code == 0
    assert SearchSettings(**found) == SearchSettings(**expected)


def test_texts_of_a_url() -> None:
    texts = {"references": "false", "depth": "20", "weights": "dense=0", "retriever": "hybrid"}
    settings = SearchSettings(**from_texts(SearchSettings, texts))
    assert (settings.references, settings.depth) == (False, 20)
    assert settings.leg_weights == (1.0, 0.0)
    assert Filter(**from_texts(Filter, {"source": "ussg, title18", "notes": "false"})) == Filter(
        source=["title18", "ussg"], notes=False
    )
    for texts, message in [
        ({"depth": "1_0"}, "depth '1_0' is not allowed; give a whole number from 1"),
        ({"references": "1"}, "true or false"),
        ({"weights": "bm25"}, "write them as bm25=1,dense=0.5"),
    ]:
        with pytest.raises(BadOption, match=message):
            SearchSettings(**from_texts(SearchSettings, texts))


@pytest.mark.parametrize(
    "wrong",
    [
        {"depth": True},
        {"depth": 10.0},
        {"rrf_k": "60"},
        {"references": 1},
        {"rerank_depth": None},
        {"weights": {"bm25": True}},
        {"links": True},
        {"reranker": 3},
        {"retriever": 5},
        {"retriever": ""},
        {"hue": 1},
    ],
)
def test_types_are_strict(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadOption) as raised:
        SearchSettings(**wrong)
    assert "\n" not in str(raised.value)


def test_every_surface_has_every_option() -> None:
    """What a study does not vary is named where its axes are made."""
    searched = set(declared(SearchSettings))
    assert searched - {"collapse"} <= set(AXES)
    assert {"notes", "links", "reranker", "weights", "depth", "rrf_k"} <= {
        *declared(Filter),
        *searched,
    }
    with pytest.raises(BadOption, match="argument 'speed' is not known"):
        Service([]).search({"q": "bank", "speed": "1"})

    def function(query: str, **more: Any) -> str:
        return query

    with_parameters(function, declared(SearchSettings).values())
    parameters = inspect.signature(function).parameters
    assert list(parameters) == ["query", *searched_in_order()]
    assert parameters["collapse"].default == SearchSettings().collapse == "years"


def searched_in_order() -> list[str]:
    return list(declared(SearchSettings))


def test_names_of_legs() -> None:
    """Old names stay, a list is a list, and order does not matter."""
    assert SearchSettings(retriever="dense+bm25").legs == ("bm25", "dense")
    assert SearchSettings(retriever=["bm25", "grams"]).legs == ("bm25", "bm25_lines_ngrams")
    assert SearchSettings(retriever="lines").legs == ("dense_lines",)
    assert SearchSettings(retriever="bm25_lines", weights={"grams": 2}).leg_weights == (1.0, 2.0)
