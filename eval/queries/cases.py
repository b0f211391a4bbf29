"""A case file read by the domain whose columns it has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from eval.domains.model import DOMAINS, Domain
from eval.queries.case_files import Case, read_case_file, read_csv
from tam.errors import BadCases


def read_cases(
    path: Path, names: Mapping[str, str] | None = None, wanted: str | None = None
) -> tuple[Domain, list[Case]]:
    """The domain of a case file, told by its columns, and its cases.

    ``names`` replace the names of columns. Of several domains that recognise the columns the one
    that is ``wanted`` counts, else the first. Raises ``BadCases`` when no domain does.
    """
    head, _ = read_csv(path)
    domains = sorted(DOMAINS.values(), key=lambda domain: domain.name != wanted)
    for domain in domains:
        columns = domain.columns.renamed(names or {})
        if domain.recognises(head, columns):
            return domain, read_case_file(path, columns, domain.read_answer)
    known = "; ".join(
        f"{domain.name}: {domain.columns.case_id}, {domain.columns.text}, {domain.columns.answer}"
        for domain in DOMAINS.values()
    )
    raise BadCases(
        f"{path}:1: the columns {', '.join(head)} are those of no domain's cases ({known}); "
        f"name yours with --column"
    )
