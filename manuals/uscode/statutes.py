"""Statutes in running text: ``18 U.S.C. §§ 922(g)(1), (n), and 924-926``.

A citation is a prefix (title and section sign, or a section sign alone) and a list of members;
a member is a section number with its subdivisions, or subdivisions that take the place of the
last ones of the member before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from operator import itemgetter
from typing import Any

from manuals.model.reference import Reference
from manuals.uscode import laws

DASH = r"[-‐‑‒–—−]"
#: subdivisions in parentheses: a number, one or two letters, a roman numeral, `(A-1)`
SUB = rf"\((?:\d{{1,3}}|[A-Za-z]{{1,2}}|[ivxlIVXL]{{1,8}})(?:{DASH}\d)?\)"
SUBS = re.compile(rf"(?:\s?{SUB})(?:{SUB})*")
_SUB_NAME = re.compile(r"\(([^)]+)\)")

_SIGN = r"(?:Â?§\s?){1,2}|\bsections?|\bsecs?\.?"
_TITLED = re.compile(
    r"(?:\btitle\s+)?(?<![\w.$§–-])(?P<title>\d{1,2})(?:,|,?\s+of\s+the\b)?\s*"
    r"(?P<before>App(?:endix|\.)?\s*)?(?:U\.?\s?S\.?\s?(?:C\.?\s?[AS]\.|C[AS]|C\.|C|Code)|"
    r"United\s+States\s+Code)(?:\s+Annotated)?(?P<app>,?\s*App(?:endix|\.)?)?,?\s*"
    rf"(?:at\s+)?(?P<sign>{_SIGN}|)\s*(?=\d)",
    re.IGNORECASE,
)
_TWO_TITLES = re.compile(r"\btitles\s+[\d,\s]{1,12}(?:and|&)\s*$", re.IGNORECASE)
_SECTION = re.compile(rf"(?<![\w§])(?P<sign>{_SIGN})\s*(?=\d)", re.IGNORECASE)
_OF_TITLE = re.compile(
    r",?\s+(?:(?:of\s+)?title\s+(?P<title>\d{1,2})\b|of\s+this\s+title)", re.IGNORECASE
)
_BARE = re.compile(r"(?<![\w.$§–-])(?=(?:16|\d{3,4}[A-Za-z]?)\((?:[a-z]|\d{1,2})\))")

_NUMBER = re.compile(
    r"(?P<digits>\d{1,5})(?P<letters>(?:(?!and\b|or\b)[A-Za-z]{1,3})?)"
    r"(?!(?!and\b|or\b)[A-Za-z0-9])(?!\s+ed\b)"
)
_NUMBER_TAIL = re.compile(
    rf"{DASH}\s?(?P<digits>\d{{1,5}})(?P<letters>[A-Za-z]{{0,2}})(?![A-Za-z0-9])"
)
_JOINT = re.compile(
    rf"\s*(?P<joint>,\s*(?:and|or|&)\b|,|;|\band/or\b|\band\b|\bor\b|&|/|\bthrough\b|\bto\b|{DASH})"
    r"\s*(?:as\s+well\s+as\s+)?(?P<sign>§\s?§?\s*|\bsections?\s+|)",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"through|to|{DASH}", re.IGNORECASE)
_NOT_A_SECTION = re.compile(
    r"\s*(?:U\.?\s?S\.?|United\s+States|App\b|F\.|S\.\s?Ct|Stat\b|C\.?F\.?R|WL\b|years?\b|months?\b|"
    r"days?\b|hours?\b|counts?\b|%|percent\b|levels?\b|points?\b|grams?\b|kilograms?\b|kg\b|"
    r"persons?\b|times\b|(?:Jan|Feb|March|April|May|June|July|Aug|Sept|Oct|Nov|Dec)\b)|"
    r"\.\d|,\d{3}(?!\d)|[:/]\d+-?\d",
    re.IGNORECASE,
)
# What may follow a number that stands in a list without a sign of its own.
_LIST_GOES_ON = re.compile(
    r"\s*(?:$|[.;:)\]]|,(?!\d)|\((?!\d{4}\))|(?:and|or|&|in|of|for|by|with|on|at|as|because|the)\b)"
)
#: sections that one sign names beside the first are no further from it
_NEAR = 100
_NOTE = re.compile(r"\s+notes?\b(?!\s+\d)", re.IGNORECASE)
_ET_SEQ = re.compile(r",?\s+et\.?\s+seqq?\b\.?", re.IGNORECASE)
#: a section without a title in a new sentence is of the title named last when it is so near
_CLOSE = 30
#: what no words around a section name
_UNNAMED = -2
#: characters before a section that can name its law
_BEFORE = 80

# The sections of Title 18 whose letter is printed small (175a, 2332b); all others have capitals.
_SMALL_LETTERS = frozenset({"175", "706", "711", "2280", "2281", "2332", "3103", "3150"})


def statute_key(title: int | str, digits: str, letters: str = "", app: bool = False) -> str:
    """``(18, "1028", "a")`` -> ``18 U.S.C. § 1028A``; in other titles letters stay as typed."""
    if int(title) == 18 and not app and len(letters) == 1:
        letters = letters.lower() if digits in _SMALL_LETTERS else letters.upper()
    return f"{int(title)} U.S.C. {'App. ' if app else ''}§ {digits}{letters}"


def statute(key: str, names: tuple[str, ...] = (), **fields: Any) -> Reference:
    """A statute with the manuals that can hold it.

    A section of another title than 18 has its place in the Guidelines Manual only, as a row of
    Appendix A.
    """
    source = "title18" if key.startswith("18 U.S.C. §") else "ussg"
    return Reference("statute", key, names, sources=(source,), **fields)


def number_of(key: str) -> tuple[int, str]:
    """``15 U.S.C. § 78dd-1`` -> ``(78, "dd-1")``."""
    found = re.match(r"(\d+)(.*)", key.partition("§ ")[2])
    return (int(found.group(1)), found.group(2)) if found else (0, "")


def names_of(subs: str) -> tuple[str, ...]:
    """``(g)(1)`` -> ``("g", "1")``, dashes as hyphens."""
    return tuple(re.sub(DASH, "-", name) for name in _SUB_NAME.findall(subs))


def _classes(name: str, depth: int) -> set[str]:
    """The kinds of enumeration that a subdivision's name can belong to at a depth."""
    if name[0].isdigit():
        return {"number"}
    case = "small" if name[0].islower() else "capital"
    roman = re.fullmatch(r"[ivxl]+", name.lower()) is not None
    classes = {f"{case} letter"} if len(name) <= 2 else set()
    if roman and depth >= 3:
        classes = {f"{case} roman"}  # (a)(1)(A)(i): the fourth level is never a letter
    elif roman and depth > 0:
        classes.add(f"{case} roman")
    return classes


def take_place(chain: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...] | None:
    """What ``(g)(1), (n)`` means: the deepest subdivision of the same kind is replaced.

    ``None`` when no level of the chain counts in the way of the new name.
    """
    for depth in range(len(chain) - 1, -1, -1):
        if _classes(chain[depth], depth) & _classes(names[0], depth):
            return chain[:depth] + names
    return None


def _is_plural(sign: str) -> bool:
    return sign.count("§") > 1 or sign.lower().startswith(("sections", "secs"))


class _List:
    """One citation's list of members, read from its first number on."""

    def __init__(self, text: str, prefix: re.Match[str], title: int, app: bool = False) -> None:
        groups = {"before": None, "app": None, "sign": "", **prefix.groupdict()}
        self.text, self.title = text, title
        self.app = app or bool(groups["before"] or groups["app"])
        self.plural = _is_plural(groups["sign"] or "")
        self.found: list[Reference] = []
        self.end = prefix.end()
        if self._number(prefix.start(), prefix.end()):
            while self._next():
                pass
            note = _NOTE.match(text, self.end)
            if note is not None:
                self._extend(note.end())
                self.found[-1] = replace(self.found[-1], part="Notes")
            more = _ET_SEQ.match(text, self.end)
            if more is not None:
                self._extend(more.end())

    def _extend(self, end: int) -> None:
        """Words that belong to the last member: *note*, *et seq.*, *of title 18*."""
        start = self.found[-1].span[0]
        self.found[-1] = replace(self.found[-1], span=(start, end), text=self.text[start:end])
        self.end = end

    def of_title(self, words: re.Match[str]) -> None:
        """The list goes on with the name of its title."""
        if self.found:
            self._extend(words.end())

    def _emit(self, start: int, end: int, key: str, names: tuple[str, ...]) -> None:
        self.found.append(statute(key, names, span=(start, end), text=self.text[start:end]))
        self.end = end

    def _number(self, start: int, pos: int) -> bool:
        number = _NUMBER.match(self.text, pos)
        if number is None:
            return False
        digits, letters, end = number["digits"], number["letters"], number.end()
        tail = _NUMBER_TAIL.match(self.text, end)
        while tail is not None and self._belongs(digits, letters, tail):
            letters += f"-{tail['digits']}{tail['letters']}"
            end = tail.end()
            tail = _NUMBER_TAIL.match(self.text, end)
        subs = SUBS.match(self.text, end)
        names = names_of(subs.group()) if subs else ()
        end = subs.end() if subs else end
        self._emit(start, end, statute_key(self.title, digits, letters, self.app), names)
        return True

    def _belongs(self, digits: str, letters: str, tail: re.Match[str]) -> bool:
        """Whether ``78dd-1`` is one number; ``876-877``, ``78j-78l``, ``1701-06`` are ranges."""
        if self.title == laws.TITLE_18 and not self.app:
            return False
        short = tail["digits"]
        number = int(short) if letters or len(short) == 1 else _completed(digits, short)
        if len(short) == 1:
            return number <= int(digits)
        return (number, tail["letters"]) < (int(digits), letters)

    def _next(self) -> bool:
        joint = _JOINT.match(self.text, self.end)
        if joint is None:
            return False
        is_range = _RANGE.fullmatch(joint["joint"]) is not None
        before = self.found[-1]
        start = joint.end()
        subs = None if joint["sign"] else SUBS.match(self.text, start)
        if subs is not None and joint["joint"] != ";":
            names = take_place(before.subdivisions, names_of(subs.group()))
            if names is None:
                return False
            self._emit(start, subs.end(), before.key, names)
        elif not self._continues(joint, start) or not self._number(
            joint.start("sign") if joint["sign"] else start, start
        ):
            return False
        self.plural = self.plural or _is_plural(joint["sign"].strip())
        if is_range:
            self._close_range(before)
        return True

    def _continues(self, joint: re.Match[str], start: int) -> bool:
        """Whether the number after a joint is another section of the list."""
        number = _NUMBER.match(self.text, start)
        if number is None or _NOT_A_SECTION.match(self.text, number.end()):
            return False
        if self.plural or joint["sign"]:
            return True
        if SUBS.match(self.text, number.end()) and self.text[number.end()] == "(":
            return True
        first, letters = number_of(self.found[-1].key)
        second = int(number["digits"])
        if re.fullmatch(DASH, joint["joint"]):
            # One sign for two sections: only rising numbers are unmistakable.
            rising = (second, number["letters"]) > (first, letters)
            return rising or _completed(str(first), number["digits"]) > first
        if joint["joint"].lower() in ("to", "through", ";"):
            return False
        if joint["joint"] == "," and 1900 < second < 2040 and abs(second - first) > 9:
            return False  # a year
        near = abs(second - first) <= _NEAR and second != first
        goes_on = _LIST_GOES_ON.match(self.text, number.end()) is not None
        return near or (goes_on and joint["joint"] != "," and (second > 99 or second == 2))

    def _close_range(self, before: Reference) -> None:
        last = self.found[-1]
        # 2241-44: the second number leaves out the digits that it shares with the first.
        first_number = re.search(r"§ (\d+)[A-Za-z]?$", before.key)
        last_number = re.search(r"§ (\d+)([A-Za-z]?)$", last.key)
        if first_number and last_number and not before.subdivisions:
            first, (short, letter) = first_number.group(1), last_number.groups()
            if len(short) < len(first):
                whole = str(_completed(first, short))
                last = replace(last, key=statute_key(self.title, whole, letter, self.app))
                self.found[-1] = last
        self.found[-2] = replace(before, through=last.full_key)


def _completed(first: str, short: str) -> int:
    """``1701``, ``06`` -> 1706: the digits that a short number leaves out are the first one's."""
    return int(first[: max(len(first) - len(short), 0)] + short)


def find_statutes(text: str, typed: bool = False) -> Iterator[Reference]:
    """Statutes in a text, in order.

    ``typed``: the text is a person's, so that ``§ 924(c)`` and ``924(c)`` without a title mean the
    law that was named last, or Title 18 (see ``laws``). Else only sections with a title count.
    """
    reader = _Reader(text, typed)
    patterns = (_TITLED, _SECTION, *((_BARE, laws.NUMBERED_CODE) if typed else ()))
    prefixes = [
        (match.start(), place, match)
        for place, pattern in enumerate(patterns)
        for match in pattern.finditer(text)
    ]
    for start, _, prefix in sorted(prefixes, key=itemgetter(0, 1)):
        # What stands within a list is a member of it, or of no list.
        if start >= reader.end:
            yield from reader.read(prefix)


class _Reader:
    """A text read from its start: the law that was named last, and the sections of each."""

    def __init__(self, text: str, typed: bool) -> None:
        self.text, self.typed = text, typed
        self.end = 0
        self._law: int | None = None
        self._app = False
        self._number = 0
        self._seen: dict[str, int] = {}
        self._same_sentence = False
        self._scanned = 0

    def read(self, prefix: re.Match[str]) -> list[Reference]:
        if prefix.re is laws.NUMBERED_CODE:
            return self._name(laws.OTHER, prefix.end())
        if prefix.re is _TITLED:
            before = self.text[max(0, prefix.start() - _BEFORE) : prefix.start()]
            title = int(prefix["title"])
            members = _List(self.text, prefix, title)
            return self._take(members, laws.OTHER if _TWO_TITLES.search(before) else title)
        return self._untitled(prefix)

    def _name(self, law: int, end: int, number: int = 0, app: bool = False) -> list[Reference]:
        """Note that a law was named; no reference comes of that."""
        self._law, self._number, self._app = law, number, app
        self._same_sentence, self._scanned = True, end
        return []

    def _take(self, members: _List, law: int, named: bool = True) -> list[Reference]:
        """The members as sections of a law; of a law outside the Code none.

        ``named``: the text says which law, so that sections after it can be of the same.
        """
        if not members.found:
            return []
        self.end = max(self.end, members.end)
        if named:
            number, _ = number_of(members.found[-1].key)
            self._name(law, members.end, number, members.app)
        for member in members.found:
            self._seen[member.key.partition("§ ")[2]] = law
        return members.found if law else []

    def _untitled(self, prefix: re.Match[str]) -> list[Reference]:
        members = _List(self.text, prefix, laws.TITLE_18)
        if not members.found:
            return []
        self.end = max(self.end, members.end)
        of_title = _OF_TITLE.match(self.text, members.end)
        if of_title is not None and prefix.re is not _BARE:
            other = int(of_title["title"] or laws.TITLE_18)
            if other != laws.TITLE_18:
                members = _List(self.text, prefix, other)
            if of_title["title"]:
                members.of_title(of_title)
            return self._take(members, other)
        if not self.typed:
            return []
        law = self._law_of(prefix, members)
        known: int | None = None
        if law == _UNNAMED:
            known = laws.title_by_number(self.text, prefix.end())
            law = known or self._law_by_place(members)
        if law is None:
            return []
        if law not in (laws.OTHER, laws.TITLE_18):
            members = _List(self.text, prefix, law, self._app and law == self._law)
        return self._take(members, law, named=known is None)

    def _law_of(self, prefix: re.Match[str], members: _List) -> int | None:
        """The law that the words around a section name; none for what is no section of a law."""
        start, at = prefix.start(), prefix.end()
        bare = prefix.re is _BARE
        other, named = laws.law_after(self.text, members.end)
        if other:
            return laws.OTHER if named else None
        before = laws.law_before(self.text[max(0, start - _BEFORE) : start], bare)
        if before == laws.SAME:
            return self._law or laws.OTHER
        if before is not None:
            return before
        if laws.is_foreign(self.text, at):
            return laws.OTHER
        word = not bare and prefix["sign"][:1].lower() == "s"
        if laws.is_everyday(self.text, at, word, bare):
            return None
        return _UNNAMED

    def _law_by_place(self, members: _List) -> int:
        """The law named before: for the same section, in the same sentence, or Title 18."""
        first = members.found[0]
        seen = self._seen.get(first.key.partition("§ ")[2])
        if seen is not None:
            return seen
        if self._law is None or self._law == laws.TITLE_18:
            return laws.TITLE_18
        start = first.span[0]
        if self._same_sentence:
            self._same_sentence = not laws.ends_sentence(self.text, self._scanned, start)
            self._scanned = max(self._scanned, start - 2)
        near = abs(number_of(first.key)[0] - self._number) <= _CLOSE
        return self._law if self._same_sentence or (self._law and near) else laws.OTHER
