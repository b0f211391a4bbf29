"""Ranks and titles of the Guidelines Manual's sections."""

from __future__ import annotations

import re

#: outermost first; subsections of a guideline stand at ``DIVISION`` and deeper, like subheadings
CHAPTER, PART, SUBPART, HEADING, GUIDELINE, DIVISION, NOTE = range(7)

_LEAD_IN = re.compile(r"^(\S.{2,140}?)\.\s?[—―–]")
_SMALL = {"a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "than", "the"}
_SMALL |= {"to", "under", "with"}


def title_case(text: str) -> str:
    """A heading in capitals as the table of contents prints it: ``Offense Conduct``."""
    if text != text.upper():
        return text
    words = re.split(r"([^\W\d_]+(?:[’'][^\W\d_]+)*)", text.lower())
    for number, word in enumerate(words):
        if word[:1].isalpha() and (number < 2 or word not in _SMALL):
            words[number] = word[0].upper() + word[1:]
    return "".join(words)


def caption(text: str) -> str:
    """The title of a subsection: the words before a dash, or its whole text when that is written
    as a heading; a row of a table or a sentence is none."""
    found = _LEAD_IN.match(text)
    if found is not None:
        return found[1]
    plain = re.sub(r"\([^()]*\)", "", text)
    words = [word for word in re.findall(r"[^\W\d_][\w’'-]*", plain) if word not in _SMALL]
    capitals = bool(words) and all(word[0].isupper() for word in words)
    broken = re.search(r"[|;—•⚫●▪]|([.,]|\b(and|or))$", text) is not None
    heading = len(text) <= 60 and capitals and not broken
    return text.rstrip(":") if heading else ""


def lead_in(text: str) -> str:
    """The words before a dash that a note begins with: ``Definitions.—For purposes ...``."""
    found = _LEAD_IN.match(text)
    return found[1] if found else ""
