"""What a section is called, and a stretch of the text that holds several."""

from __future__ import annotations

import re

from manuals.model.sections import Manual, Section
from manuals.model.units import is_apparatus, unit_key


def full_title(manual: Manual, section: Section) -> str:
    """A section's title, that of the unit which it is a part of before it; of a section without
    any title the nearest one above: ``Bank fraud`` of ``18 U.S.C. § 1344(1)``."""
    unit = manual.by_key.get(unit_key(section.source, section.key), section)
    if unit is section:
        titles = (above.title for above in reversed((*manual.ancestors(section), section)))
        # A note without a heading is called by its citation alone.
        own = section.title if is_apparatus(section.source, section.key) else ""
        return own or ("" if section.kind in _UNTITLED else next(filter(None, titles), ""))
    return ": ".join(title for title in (unit.title, section.title) if title)


#: kinds of sections that what stands above them has no title for
_UNTITLED = ("notes", "footnotes")


def stretch_name(manual: Manual, section: Section, span: tuple[int, int]) -> tuple[str, str]:
    """Citation and title of a stretch of the text that begins in ``section``.

    A stretch that goes on behind the section's end is cited by its first and last section
    (``E11.21 through E11.29``) and titled by what holds both.
    """
    end = span[0] + len(manual.text[span[0] : span[1]].rstrip())
    if end <= section.span[1]:
        return section.citation, full_title(manual, section)
    last = manual.section_at(end - 1)
    above = [*manual.ancestors(last), last]
    last = next(
        (each for each in above if span[0] <= each.span[0] and each.span[1] <= span[1]), last
    )
    citation = _range(section.citation, last.citation)
    common = [each for each in manual.ancestors(section) if each in above]
    title = full_title(manual, common[-1]) if common else manual.edition.title
    return citation, f"{title} ({citation})"


def _range(first: str, last: str) -> str:
    """``Abscess > brain through lung``: the path that both have is said once."""
    head, joint, _ = first.rpartition(" > ")
    return f"{first} through {last.removeprefix(head + joint)}"


def full_name(citation: str, title: str) -> str:
    """Citation and title as one line, without saying either twice.

    The citation of an index's entry is its path without nonessential words, which its title has:
    ``Accident > aircraft`` and ``aircraft (in transit)`` are ``Accident > aircraft (in transit)``.
    """
    if not title or citation.startswith(title):
        return citation
    head, joint, last = citation.rpartition(" > ")
    if title.startswith(last) or _plain(title) == _plain(last):
        return f"{head}{joint}{title}"
    return f"{citation} {title}"


def _plain(title: str) -> str:
    return " ".join(re.sub(r"\([^()]*\)|\[[^][]*\]|#\d+$", "", title).casefold().split())
