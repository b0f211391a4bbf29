"""The benchmark's systems, as ``pyproject.toml`` registers them."""

from __future__ import annotations

from eval.systems.system import System
from tam.plugins import Hook

_AGENT = ("rounds", "case_tokens", "repairs", "structured")

SINGLE_PASS = System(
    name="single-pass",
    order=10,
    title="one retrieval with the whole case, one answer",
    solve=Hook("eval.systems.solvers.single_pass:solve"),
    options=("hits", "search", "repairs", "structured"),
    domain_parts=("answer",),
)
AGENTIC = System(
    name="agentic",
    order=20,
    title="the model calls the two search tools, then answers",
    solve=Hook("eval.systems.solvers.agents:agentic"),
    options=("search", *_AGENT),
    domain_parts=("answer",),
)
REACT = System(
    name="react",
    order=30,
    title="the model calls the browsing tools, then answers",
    solve=Hook("eval.systems.solvers.agents:react"),
    options=_AGENT,
    domain_parts=("answer", "tools"),
)
HARNESS = System(
    name="harness",
    order=40,
    title="workers one after the other, each with a skill and tools of its own",
    solve=Hook("eval.systems.solvers.harness:solve"),
    options=_AGENT,
    domain_parts=("answer", "tools", "harness"),
)
RETRIEVAL_ONLY = System(
    name="retrieval-only",
    order=50,
    title="no model: the domain's rule over the hits, a floor",
    solve=Hook("eval.systems.solvers.retrieval_only:solve"),
    needs_model=False,
    options=("hits", "search"),
    domain_parts=("answer_from_hits",),
)
ORACLE_SECTIONS = System(
    name="oracle-sections",
    order=60,
    title="the gold sections in place of retrieved ones, one answer",
    solve=Hook("eval.systems.solvers.oracle:solve"),
    options=("repairs", "structured"),
    domain_parts=("answer",),
)
