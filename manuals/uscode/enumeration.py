"""Where an enumerated paragraph of a statute stands: (a) (1) (A) (i) (I) (aa) (AA).

The indent classes of the HTML follow the form of the enumerator and not its level (subsection
(i) is set like clause (i)), so levels come from the sequence: an enumerator either goes on one of
the open levels or begins a new one below the last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

Form = Literal["lower", "number", "upper", "roman", "Roman", "double", "Double"]

_ENUMERATOR = (
    r"\((?:\d{1,3}(?:[-–][A-Z]|[A-Z])?|[A-Za-z]{1,2}(?:[-–]\d)?|[ivxl]{1,8}|[IVXL]{1,8})\)"
)
_LEAD = re.compile(rf"\[?(?P<names>{_ENUMERATOR}(?:\s?{_ENUMERATOR})*)")
_HEADING = re.compile(r"\s*(?:\[\d+\]\s*)?(?P<heading>[A-Z“\"][^—]{0,200}?)\.\s?—\s*")
_NAME = re.compile(r"\(([^)]+)\)")

#: form of a level's enumerators -> form that usually begins below it
_BELOW: dict[Form | None, tuple[Form, ...]] = {
    None: ("lower", "number", "upper"),
    "lower": ("number",),
    "number": ("upper",),
    "upper": ("roman",),
    "roman": ("Roman",),
    "Roman": ("double",),
    "double": ("Double",),
    "Double": (),
}
_FIRST: dict[str, tuple[Form, ...]] = {
    "a": ("lower",),
    "1": ("number",),
    "A": ("upper",),
    "i": ("roman",),
    "I": ("Roman",),
    "aa": ("double",),
    "AA": ("Double",),
}
_ROMAN_VALUES = (("l", 50), ("xl", 40), ("x", 10), ("ix", 9), ("v", 5), ("iv", 4), ("i", 1))


def roman(number: int) -> str:
    """Lower-case roman numeral of a number below 90."""
    text = ""
    for digits, value in _ROMAN_VALUES:
        while number >= value:
            text += digits
            number -= value
    return text


_ROMANS = [roman(number) for number in range(1, 90)]


def ordinals(name: str) -> dict[Form, float]:
    """The place of an enumerator in each form that it can be of: ``i`` is 9th and 1st."""
    places: dict[Form, float] = {}
    inserted = re.fullmatch(r"(\d+)[-–]?([A-Z])", name)
    if name.isdigit():
        return {"number": float(name)}
    if inserted:
        return {"number": int(inserted[1]) + (ord(inserted[2]) - 64) / 100}
    letter, _, more = name.replace("–", "-").partition("-")
    extra = float(more) / 100 if more.isdigit() else 0.0
    if len(letter) == 1:
        form: Form = "lower" if letter.islower() else "upper"
        places[form] = ord(letter.lower()) - 96 + extra
    elif len(letter) == 2 and letter[0] == letter[1]:
        place = 26 + ord(letter[0].lower()) - 96
        if letter.islower():
            places["double"] = float(place - 26)
            places["lower"] = float(place)
        else:
            places["Double"] = float(place - 26)
            places["upper"] = float(place)
    if letter.lower() in _ROMANS and (letter.islower() or letter.isupper()):
        places["roman" if letter.islower() else "Roman"] = _ROMANS.index(letter.lower()) + 1.0
    return places


def lead(text: str) -> list[tuple[str, int]]:
    """The enumerators a paragraph begins with, each with its offset: ``(c)(1)(A)``.

    An enumerator that follows a heading counts too: ``(a) In General.—(1) Whoever``.
    """
    found = _LEAD.match(text)
    if found is None:
        return []
    names = _names(found)
    heading = _HEADING.match(text, found.end())
    if names and heading is not None:
        more = _LEAD.match(text, heading.end())
        below = _names(more) if more is not None else []
        if below and below[0][0] in _FIRST:
            names += below
    return names


def _names(found: re.Match[str]) -> list[tuple[str, int]]:
    names: list[tuple[str, int]] = []
    for name in _NAME.finditer(found["names"]):
        if not ordinals(name.group(1)):
            break
        names.append((name.group(1), found.start("names") + name.start()))
    return names


def run_in(text: str, names: Sequence[tuple[str, int]], following: str) -> list[tuple[str, int]]:
    """The enumerators within a paragraph that go on with the list its lead began:
    ``(e)(i) ..., (ii) ..., or (iii) ...``.

    ``following`` is the next paragraph's first enumerator: where that goes on with the list or
    begins one further down, what stands within the paragraph are cross-references.
    """
    if len(names) < 2 or names[-1][0] not in _FIRST or following in _FIRST:
        return []
    form = _FIRST[names[-1][0]][0]
    found: list[tuple[str, int]] = []
    end = text.index(")", names[-1][1])
    for place in range(2, 20):
        name = _nth(form, place)
        more = re.compile(rf"(?<=[^)])(?:[,;]|[,;]? (?:and|or)) (\({name}\)) ").search(text, end)
        if more is None or name == following:
            return found
        found.append((name, more.start(1)))
        end = more.end(1)
    return found


def _nth(form: Form, place: int) -> str:
    """The name of a list's member: the second of ``roman`` is ``ii``."""
    if form == "number":
        return str(place)
    small = roman(place) if form.lower() == "roman" else chr(96 + place)
    small *= 2 if form.lower() == "double" else 1
    return small.upper() if form in ("upper", "Roman", "Double") else small


def heading_after(text: str, offset: int) -> str:
    """The heading that follows the enumerator at an offset: ``(a) In General.—`` gives it."""
    end = text.index(")", offset) + 1
    found = _HEADING.match(text, end)
    return found["heading"].strip() if found else ""


class Placement:
    """The open levels of one section while its paragraphs are read in order."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.forms: list[Form] = []

    def place(
        self, name: str, compound: bool = False, within: str = "", ahead: Sequence[str] = ()
    ) -> int:
        """The depth (0 for a subsection) of the next enumerator; opens it there.

        ``compound``: it directly follows another one, ``(c)(1)``, so it goes below that.
        ``within`` is the enumerator that directly follows this one, ``ahead`` are the next
        paragraphs' first ones: they settle what an ``i`` is.
        """
        forms = ordinals(name)
        top = self.forms[-1] if self.forms else None
        below = [form for form in _FIRST.get(name, ()) if form in forms]
        goes_on = None if compound else self._going_on(forms)
        depth, form = len(self.names), self._form_below(forms, top)
        if goes_on is not None and not (below and self._begins(below[0], top, within, ahead)):
            depth, form = goes_on
        elif goes_on is None and not below and not compound:
            depth, form = self._out_of_order(forms, top)
        del self.names[depth:], self.forms[depth:]
        self.names.append(name)
        self.forms.append(form)
        return depth

    def _form_below(self, forms: dict[Form, float], top: Form | None) -> Form:
        usual = [form for form in _BELOW[top] if form in forms]
        return usual[0] if usual else min(forms, key=lambda form: forms[form])

    def _going_on(self, forms: dict[Form, float]) -> tuple[int, Form] | None:
        """The deepest open level whose next enumerator this is."""
        for depth in range(len(self.names) - 1, -1, -1):
            form = self.forms[depth]
            before = ordinals(self.names[depth]).get(form, 0.0)
            if form in forms and before < forms[form] <= int(before) + 1.99:
                return depth, form
        return None

    def _begins(self, form: Form, top: Form | None, within: str, ahead: Sequence[str]) -> bool:
        """Whether an enumerator that could go on (``i`` from ``h``) begins a level instead."""
        if form not in ("roman", "Roman"):
            return form in _BELOW[top]
        capital = form == "Roman"
        if within:
            return _FIRST.get(within, ("number",))[0] in _BELOW[form]
        for name in ahead:
            # A second (i) before any (ii) belongs to a list further down.
            if name in (("II", "J", "I") if capital else ("ii", "j", "i")):
                return name in ("II", "ii")
        return form in _BELOW[top]

    def _out_of_order(self, forms: dict[Form, float], top: Form | None) -> tuple[int, Form]:
        """A level with a gap (a repealed member is left out), else one below the last."""
        for depth in range(len(self.names) - 1, -1, -1):
            form = self.forms[depth]
            if form in forms and forms[form] > ordinals(self.names[depth]).get(form, 0.0):
                return depth, form
        for depth in range(len(self.names) - 1, -1, -1):
            if self.forms[depth] in forms:
                return depth, self.forms[depth]
        return len(self.names), self._form_below(forms, top)
