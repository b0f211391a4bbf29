"""The options that say how to search, shared by ``tam search`` and ``tam eval``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from retrievers.ranking.fusion import FUSIONS
from retrievers.ranking.passages import PASSAGE_FUSIONS
from retrievers.search.settings import (
    IDF,
    LINKS,
    QUERY_MODES,
    QUERY_TERMS,
    RETRIEVERS,
    SearchSettings,
)

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--retriever", type=click.Choice(list(RETRIEVERS)), default="hybrid", show_default=True
    ),
    click.option(
        "--query-mode", type=click.Choice(QUERY_MODES), default="whole", show_default=True
    ),
    click.option("--passage-fusion", type=click.Choice(list(PASSAGE_FUSIONS)), default="max"),
    click.option("--fusion", type=click.Choice(list(FUSIONS)), default="rrf", show_default=True),
    click.option(
        "--links",
        type=click.Choice(LINKS),
        default="off",
        show_default=True,
        help="Let hits bring the sections that they point to.",
    ),
    click.option(
        "--query-terms",
        type=click.Choice(QUERY_TERMS),
        default="counts",
        show_default=True,
        help="BM25 counts a repeated word of the query as often, or once.",
    ),
    click.option(
        "--idf",
        type=click.Choice(IDF),
        default="index",
        show_default=True,
        help="Rarity of a word in the whole index, or in the editions searched.",
    ),
    click.option("--reranker", metavar="MODEL", help="A cross-encoder: a name or a folder."),
    click.option(
        "--no-references", is_flag=True, help="Do not put sections named in a query first."
    ),
)


def retrieval_options(command: Command) -> Command:
    """Add the options to a command, which takes them as ``**chosen``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def search_settings(no_references: bool, **chosen: Any) -> SearchSettings:
    """The settings that were chosen. Raises ``BadOption``."""
    return SearchSettings(references=not no_references, **chosen)


def search_option_names() -> list[str]:
    """The names under which a command gets the options, for one that has others too."""
    parameters = [parameter for option in _OPTIONS for parameter in _parameters(option)]
    return [str(parameter.name) for parameter in parameters]


def _parameters(option: Callable[[Any], Any]) -> list[click.Option]:
    def bare() -> None:
        return

    return list(option(bare).__click_params__)
