"""The tools of the domains, by domain and by name."""

from __future__ import annotations

from eval.domains.model import DOMAINS, Domain
from eval.systems.tools.search import search_tools
from eval.systems.tools.tool import Group, Tool
from tam.errors import BadOption


def tools_of(domain: Domain, group: Group | None = None) -> tuple[Tool, ...]:
    """A domain's tools in the order in which a person would use them; the two searches come of
    themselves where the domain has none."""
    own = tuple(domain.tools()) if domain.tools is not None else ()
    if not any(tool.group == "search" for tool in own):
        own += search_tools(domain.name, domain.sources, domain.title)
    return tuple(tool for tool in own if group in (None, tool.group))


def all_tools() -> list[tuple[Domain, Tool]]:
    """Every tool with its domain."""
    return [(domain, tool) for domain in DOMAINS.values() for tool in tools_of(domain)]


def tool_named(name: str) -> tuple[Domain, Tool]:
    """One tool and its domain. Raises ``BadOption`` that lists the names."""
    for domain, tool in all_tools():
        if tool.name == name:
            return domain, tool
    names = ", ".join(tool.name for _, tool in all_tools())
    raise BadOption(f"no tool {name!r}; tools are {names}")
