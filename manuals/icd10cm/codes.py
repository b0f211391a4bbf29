"""ICD-10-CM codes: normal form, with and without the dot."""

from __future__ import annotations

import re

from tam.errors import BadReference

# Three characters name the category. The official lists have a letter, a digit and a digit, or A or
# B in the last place (C4A, C7B, Z3A); from FY 2026 also a letter, A and a digit (QA0). Any two
# letters would read PM2.5 as a code; a test holds this against every list there is.
CATEGORY = r"[A-Z](?:[0-9][0-9AB]|A[0-9])"
_CODE = re.compile(rf"({CATEGORY})(?:\.?([0-9A-Z]{{1,4}}))?(?:\.?-)?\.?", re.IGNORECASE)


def is_code(text: str) -> bool:
    """Whether the text as a whole has the form of a code, with or without its dot."""
    return _CODE.fullmatch(text.strip()) is not None


def normalise_code(text: str) -> str:
    """``e1122``, ``E11.22`` -> ``E11.22``; ``E11.6-`` (more characters needed) -> ``E11.6``.

    Form only: whether an edition holds the code is for lookups. Raises ``BadReference``.
    """
    found = _CODE.fullmatch(text.strip())
    if found is None:
        raise BadReference(
            f"{text!r} is not an ICD-10-CM code: a category of three characters, "
            f"then up to four more after a dot, such as E11.22, I10 or S72.002A"
        )
    category, rest = found.group(1).upper(), (found.group(2) or "").upper()
    return f"{category}.{rest}" if rest else category


def undotted(code: str) -> str:
    """The code without its dot, in upper case: the form in which codes are compared."""
    return code.replace(".", "").upper()
