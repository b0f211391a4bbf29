"""Statutes in running text: ``18 U.S.C. §§ 922(g)(1), (n), and 924-926``.

A citation is a prefix (title and section sign, or a section sign alone) and a list of members;
a member is a section number with its subdivisions, or subdivisions that take the place of the
last ones of the member before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from manuals.model.reference import Reference

DASH = r"[-‐‑‒–—−]"
#: subdivisions in parentheses: a number, one or two letters, a roman numeral, `(A-1)`
SUB = rf"\((?:\d{{1,3}}|[A-Za-z]{{1,2}}|[ivxlIVXL]{{1,8}})(?:{DASH}\d)?\)"
SUBS = re.compile(rf"(?:\s?{SUB})(?:{SUB})*")
_SUB_NAME = re.compile(r"\(([^)]+)\)")

_SIGN = r"§\s?§?|\bsections?|\bsecs?\.?"
_USC = re.compile(
    r"(?<![\w.$§–-])(?P<title>\d{1,2})\s*U\.?\s?S\.?\s?"
    r"(?:C\.?\s?[AS]\.|CA|C\.|C|Code(?:\s+Annotated)?)(?P<app>,?\s*App\.?)?,?\s*"
    rf"(?P<sign>{_SIGN}|)\s*(?=\d)",
    re.IGNORECASE,
)
_TITLE_FIRST = re.compile(
    r"\btitle\s+(?P<title>\d{1,2}),?\s+(?:of\s+the\s+)?(?:United\s+States\s+Code|U\.?S\.?\s?"
    rf"(?:Code|C\.?))(?:\s+Annotated)?,?\s*(?:at\s+)?(?P<sign>{_SIGN})\s*(?=\d)",
    re.IGNORECASE,
)
_SECTION = re.compile(rf"(?<![\w§])(?P<sign>{_SIGN})\s*(?=\d)", re.IGNORECASE)
_OF_TITLE = re.compile(r",?\s+of\s+(?:this\s+title|title\s+(?P<title>\d{1,2})\b)", re.IGNORECASE)
_OF_OTHER = re.compile(r"\s*,?\s+(?:of|to)\s+(?:the|that|such|Pub|an?|chapter|appendix)\b", re.I)
_BARE = re.compile(r"(?<![\w.$§–-])(?=\d{2,4}[A-Za-z]?\((?:[a-z]|\d{1,2})\))")
#: what looks like a bare section of Title 18 in everyday words: retirement plans, charities
_NOT_STATUTES = re.compile(r"401\(k\)|403\(b\)|457\(b\)|501\(c\)|529\(")
_OTHER_LAW = re.compile(r"(?:Pub\.?\s?L\.?[^;]{0,40}|\bRules?\s+|\bR\.\s*|\bP\.\s*|Evid\.\s*)$")

_NUMBER = re.compile(r"(?P<digits>\d{1,5})(?P<letters>[A-Za-z]{0,3})(?![A-Za-z0-9])(?!\s+ed\b)")
_NUMBER_TAIL = re.compile(
    rf"{DASH}\s?(?P<digits>\d{{1,5}})(?P<letters>[A-Za-z]{{0,2}})(?![A-Za-z0-9])"
)
_JOINT = re.compile(
    rf"\s*(?P<joint>,\s*(?:and|or|&)\b|,|;|\band/or\b|\band\b|\bor\b|&|\bthrough\b|\bto\b|{DASH})\s*"
    r"(?:as\s+well\s+as\s+)?(?P<sign>§\s?§?\s*|\bsections?\s+|)",
    re.IGNORECASE,
)
_RANGE = re.compile(rf"through|to|{DASH}", re.IGNORECASE)
_NOT_A_SECTION = re.compile(
    r"\s*(?:U\.?\s?S\.?|F\.|S\.\s?Ct|Stat\b|C\.?F\.?R|years?\b|months?\b|days?\b|hours?\b|"
    r"counts?\b|%|percent\b|levels?\b|points?\b|grams?\b|kilograms?\b|kg\b|persons?\b|times\b|"
    r"(?:Jan|Feb|March|April|May|June|July|Aug|Sept|Oct|Nov|Dec)\b)|\.\d|,\d{3}(?!\d)",
    re.IGNORECASE,
)
_NOTE = re.compile(r"\s+notes?\b(?!\s+\d)", re.IGNORECASE)

# The sections of Title 18 whose letter is printed small (175a, 2332b); all others have capitals.
_SMALL_LETTERS = frozenset({"175", "706", "711", "2280", "2281", "2332", "3103", "3150"})


def statute_key(title: int | str, digits: str, letters: str = "", app: bool = False) -> str:
    """``(18, "1028", "a")`` -> ``18 U.S.C. § 1028A``; in other titles letters stay as typed."""
    if int(title) == 18 and not app and len(letters) == 1:
        letters = letters.lower() if digits in _SMALL_LETTERS else letters.upper()
    return f"{int(title)} U.S.C. {'App. ' if app else ''}§ {digits}{letters}"


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
    return "§§" in sign.replace(" ", "") or sign.lower().startswith(("sections", "secs"))


class _List:
    """One citation's list of members, read from its first number on."""

    def __init__(self, text: str, start: int, pos: int, title: int, sign: str, app: bool) -> None:
        self.text, self.title, self.app = text, title, app
        self.plural = _is_plural(sign)
        self.found: list[Reference] = []
        self.end = pos
        if self._number(start, pos):
            while self._next():
                pass
            note = _NOTE.match(text, self.end)
            if note is not None and self.found[-1].kind == "statute":
                self.end = note.end()
                last = self.found[-1]
                span = (last.span[0], self.end)
                self.found[-1] = replace(
                    last, part="Notes", span=span, text=text[span[0] : span[1]]
                )

    def holds(self, start: int, sign: str) -> bool:
        """Whether a list that begins there with that sign is the rest of this one."""
        return start < self.end and _is_plural(sign) == self.plural

    def since(self, start: int) -> list[Reference]:
        """The members from that place on."""
        return [member for member in self.found if member.span[0] >= start]

    def _emit(self, start: int, end: int, key: str, names: tuple[str, ...]) -> Reference:
        sources = ("title18",) if self.title == 18 and not self.app else ()
        reference = Reference(
            "statute",
            key,
            names,
            sources=sources,
            span=(start, end),
            text=self.text[start:end],
        )
        self.found.append(reference)
        self.end = end
        return reference

    def _number(self, start: int, pos: int) -> bool:
        number = _NUMBER.match(self.text, pos)
        if number is None:
            return False
        digits, letters, end = number["digits"], number["letters"], number.end()
        tail = _NUMBER_TAIL.match(self.text, end)
        while tail is not None and self._belongs(digits, letters, tail["digits"]):
            letters += f"-{tail['digits']}{tail['letters']}"
            end = tail.end()
            tail = _NUMBER_TAIL.match(self.text, end)
        subs = SUBS.match(self.text, end)
        names = names_of(subs.group()) if subs else ()
        end = subs.end() if subs else end
        self._emit(start, end, statute_key(self.title, digits, letters, self.app), names)
        return True

    def _belongs(self, digits: str, letters: str, tail: str) -> bool:
        """Whether ``78dd-1`` is one number; ``876-877`` and all of Title 18 are ranges."""
        if self.title == 18 and not self.app:
            return False
        return bool(letters) or int(tail) <= int(digits)

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
        # One sign for two sections: only a dash with rising numbers is unmistakable.
        first = re.search(r"\d+", self.found[-1].key.split("§")[1])
        return (
            re.fullmatch(DASH, joint["joint"]) is not None
            and first is not None
            and int(number["digits"]) > int(first.group())
        )

    def _close_range(self, before: Reference) -> None:
        last = self.found[-1]
        # 2241-44: the second number leaves out the digits that it shares with the first.
        first_number = re.search(r"§ (\d+)$", before.key)
        last_number = re.search(r"§ (\d+)$", last.key)
        if first_number and last_number:
            first, short = first_number.group(1), last_number.group(1)
            if len(short) < len(first) and not before.subdivisions:
                whole = first[: len(first) - len(short)] + short
                last = replace(last, key=statute_key(self.title, whole, app=self.app))
                self.found[-1] = last
        self.found[-2] = replace(before, through=last.full_key)


def _members(text: str, prefix: re.Match[str], title: int) -> _List:
    app = "app" in prefix.re.groupindex and prefix["app"] is not None
    sign = prefix["sign"] if "sign" in prefix.re.groupindex else ""
    return _List(text, prefix.start(), prefix.end(), title, sign, app)


def find_statutes(text: str, title: int = 18, typed: bool = False) -> Iterator[Reference]:
    """Statutes in a text; may overlap, see ``citations.find_references``.

    ``title`` is what *this title* means. ``typed``: the text is a person's, so that ``§ 924(c)``
    and ``924(c)`` without a title mean that title too.
    """
    for pattern in (_USC, _TITLE_FIRST):
        for prefix in pattern.finditer(text):
            yield from _members(text, prefix, int(prefix["title"])).found
    yield from _signed(text, title, typed)
    if typed:
        yield from _bare(text, title)


def _signed(text: str, title: int, typed: bool) -> Iterator[Reference]:
    """The members of lists that begin with a section sign alone."""
    last: _List | None = None
    found = False
    for prefix in _SECTION.finditer(text):
        start = prefix.start()
        if last is not None and last.holds(start, prefix["sign"]):
            # A list within a list: its members are those of the outer one from here on, which
            # are not read again, or a long list would take the square of its length.
            if not found and typed and _is_bare(text, start, last.end):
                found = True
                yield from last.since(start)
            continue
        last = members = _members(text, prefix, title)
        found = False
        if not members.found:
            continue
        of_title = _OF_TITLE.match(text, members.end)
        if of_title is not None:
            other = int(of_title["title"] or title)
            found = True
            yield from members.found if other == title else _members(text, prefix, other).found
        elif typed and _is_bare(text, start, members.end):
            found = True
            yield from members.found


def _bare(text: str, title: int) -> Iterator[Reference]:
    """The members of lists that begin with a number and its subdivisions: ``924(c)``."""
    end = 0
    for prefix in _BARE.finditer(text):
        if prefix.start() < end:
            continue  # within a list that was found, see _signed
        members = _members(text, prefix, title)
        if members.found and _is_bare(text, prefix.start(), members.end):
            end = members.end
            yield from members.found


def _is_bare(text: str, start: int, end: int) -> bool:
    """Whether a section without a title, in a person's words, is not one of another law."""
    before = text[max(0, start - 60) : start]
    return not (
        _OTHER_LAW.search(before) or _OF_OTHER.match(text, end) or _NOT_STATUTES.match(text, start)
    )
