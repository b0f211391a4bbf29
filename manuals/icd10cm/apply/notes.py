"""Clinical notes as a coder reads them: what is a problem, what is only told of, what is denied.

Rules of section IV of the Official Guidelines and of common practice: a note's assessment or
diagnosis list says what is coded; history, medication and findings add to it; what is denied,
ruled out or of the family is not coded. Negation after NegEx (Chapman et al., J. Biomed. Inform.
34, 2001), as a short list of cues with a scope of one clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manuals.apply.plan import Statement

#: heading -> what stands below it counts, as a share of a problem's
_HEADINGS: tuple[tuple[float, str], ...] = (
    (1.0, r"assessment|impression|diagnos[ei]s|problem list|discharge diagnos|active problems"),
    (0.8, r"hospital course|brief hospital|course|reason for (?:visit|admission)|procedure"),
    (0.7, r"chief complaint|history of present|hpi|present illness|results?|imaging|pathology"),
    (0.6, r"past medical|medical history|pmh|surgical history|social history|medications?|plan"),
    (0.0, r"family history|review of systems|ros|allerg|vital|instructions|disposition|followup"),
    (0.3, r"physical exam|exam|labs?|pertinent results"),
)
_HEADING = re.compile(
    r"^\s*(?P<name>[A-Z][A-Za-z/&' ]{2,48})\s*:?\s*$|^\s*(?P<run>[A-Z][A-Za-z/& ]{2,40}):\s+(?=\S)"
)
_NUMBERED = re.compile(r"^\s*(?:\d{1,2}[.)]|#\s?\d{0,2}|[-*•])\s*")
_LABEL = re.compile(r"[A-Z][A-Za-z ]{2,40}:")
_NEGATED = re.compile(
    r"\b(?:no|not|denies|denied|without|negative for|ruled out|rule out|r/o|never|absence of|"
    r"free of|unlikely|no evidence of)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[;,.])\s+|\s+\b(?:but|however|although|except)\b\s+", re.IGNORECASE)
_FAMILY = re.compile(
    r"\b(?:mother|father|brother|sister|aunt|uncle|grand(?:mother|father)|family)\b", re.IGNORECASE
)


def read_note(note: str) -> list[Statement]:
    """The statements of a note that can give a code, in order."""
    found: list[Statement] = []
    weight = 0.6
    at = 0
    for line in note.splitlines(keepends=True):
        start, at = at, at + len(line)
        heading = _HEADING.match(line)
        if heading is not None:
            known = _weight_of(heading["name"] or heading["run"])
            if known is not None:
                weight = known
                start += heading.end()
                line = line[heading.end() :]
        if not line.strip() or weight == 0.0:
            continue
        found.extend(_of_line(line, start, weight))
    return found


def _weight_of(heading: str) -> float | None:
    for weight, names in _HEADINGS:
        if re.search(rf"^(?:{names})|\b(?:{names})\s*$", heading.strip(), re.IGNORECASE):
            return weight
    return None


def _of_line(line: str, start: int, weight: float) -> Iterator[Statement]:
    marker = _NUMBERED.match(line)
    listed = marker is not None
    at = marker.end() if marker else 0
    for number, part in enumerate(_parts(line, at)):
        low, high = part
        text = line[low:high].strip(" \n.;,-")
        kept = _affirmed(text)
        if len(kept) < 3 or _FAMILY.search(kept):
            continue
        short = len(kept.split()) <= 10 and _LABEL.match(kept) is None
        problem = weight == 1.0 and number == 0 and short and (listed or marker is None)
        share = weight if problem or weight < 1.0 else 0.7
        yield Statement(kept, start + low, start + high, share, problem)


def _parts(line: str, at: int) -> Iterator[tuple[int, int]]:
    """Sentences and members of a list within a line."""
    for found in re.finditer(r"(?:[^.;]|[.;](?=\S))+[.;]?", line[at:]):
        yield at + found.start(), at + found.end()


def _affirmed(text: str) -> str:
    """The clauses of a statement that are not denied. What a denial lists is denied with it:
    ``no fever, chills, or cough``."""
    kept: list[str] = []
    denied = False
    for clause in _CLAUSE.split(text):
        if _NEGATED.search(clause):
            denied = True
        elif not (denied and len(clause.split()) <= 4):
            denied = False
            kept.append(clause.strip().rstrip(","))
    return ", ".join(filter(None, kept))
