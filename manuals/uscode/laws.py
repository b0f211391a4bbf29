"""Which law a section sign without a title belongs to, by the words around it.

A bare ``§ 924(c)`` in a person's text is of Title 18 unless something says otherwise: a code, an
act, a state, ``id.`` or another title before it, what it is *of* after it, the form of its number,
or everyday use (``Section 8 housing``). A law of a wrong title is worse than none, so whatever
looks like the name of another law counts as one.
"""

from __future__ import annotations

import re

#: a law outside the United States Code, or no law at all
OTHER = 0
#: the law named last, wherever that was
SAME = -1
TITLE_18 = 18

_GAP = r"(?:\s+of\s+\d{4})?[,\s]*(?:\([^()]{0,40}\)[,\s]*)?$"

_STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|"
    "Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New\\s+Hampshire|"
    "New\\s+Jersey|New\\s+Mexico|New\\s+York|North\\s+Carolina|North\\s+Dakota|Ohio|Oklahoma|"
    "Oregon|Pennsylvania|Rhode\\s+Island|South\\s+Carolina|South\\s+Dakota|Tennessee|Texas|Utah|"
    "Vermont|Virginia|Washington|West\\s+Virginia|Wisconsin|Wyoming|Puerto\\s+Rico|Guam"
)
# Acts whose sections are always cited by their number in Title 18, and the tax code, which is
# Title 26 itself.
_ACTS_WITH_TITLES = (
    (
        re.compile(
            r"\b(?:RICO|ACCA|VICAR|CFAA|MVRA|CVRA|Racketeer\s+Influenced[\w\s]{0,40}Act|(?:Hobbs|Mann|Travel|Gun\s+Control|"
            r"Armed\s+Career\s+Criminal|Bail\s+Reform|Speedy\s+Trial|Sentencing\s+Reform|Jencks|"
            r"Economic\s+Espionage|Computer\s+Fraud\s+and\s+Abuse|Stored\s+Communications|"
            r"Wiretap|Major\s+Crimes|Assimilative\s+Crimes)\s+Act|"
            r"federal\s+criminal\s+code)" + _GAP,
            re.IGNORECASE,
        ),
        TITLE_18,
    ),
    (re.compile(r"(?:\bIRC|\bI\.\s?R\.\s?C\.?|\bInternal\s+Revenue\s+Code)" + _GAP), 26),
)
_ID = re.compile(r"\b(?:id|ibid)\.?,?(?:\s+at)?\s*$", re.IGNORECASE)
_TITLE = re.compile(r"\btitle\s+(?P<title>\d{1,2}),?\s*$", re.IGNORECASE)
_UNITED_STATES_CODE = re.compile(r"U\.?\s?S\.?\s?C\.?(?:\s?[AS]\.?)?,?\s*$")

# The last word of a law's name: in capitals it may be any of these, in small letters "code".
_NAME = re.compile(
    r"(?:\b(?:Codes?|Codified|Laws?|Stats?|Statutes?|Ann|Annotated|Acts?|Regs?|Regulations?|"
    r"Rules?|Const|Constitution|Ord|Ordinances?|Charter|Treaty|Convention|Torts|Contracts|"
    r"Procedure|Proc|Evid|Crim|Supp|Pen|Veh)\b\.?"
    r"|(?i:\bcode|\bpenal\s+laws?|\bR\.\s*|\bP\.\s*))" + _GAP
)
#: acronyms of codes and acts, read in a text in capitals too
_ACRONYMS = (
    r"ILCS|RCW|KRS|MCLA?|ORS|NRS|HRS|RSMo|RSA|SDCL|MCA|NMSA(?:\s+\d{4})?|NDCC|TCA|ARS|CRS|CGSA?|"
    r"NCGS|NJSA|OCGA|MGLA?|ORC|CFR|INA|FDCA|FD&C(?:\s+Act)?|UCMJ|ERISA|CERCLA|UCC|MPC|"
    r"FLSA|FMLA|ADA|ADEA|APA|NLRA|CWA|CAA|RCRA|FOIA|FCPA|FCA|AECA|CSA|TVPA|SSA|BSA|IEEPA|ECRA|"
    r"PC|CPC|HS|HSC|H&S|VC|CVC|W&I|WIC|B&P|BPC"
)
_ACRONYM = re.compile(rf"\b(?:{_ACRONYMS})(?:['’]s)?{_GAP}")
_ANY_ACRONYM = re.compile(rf"(?<![A-Z] )\b(?!USC)[A-Z][A-Z&]{{1,5}}(?:['’]s)?{_GAP}")
# N.Y., O.C.G.A., Pa.C.S., Del. C., but not the end of "by the U.S."
_INITIALS = re.compile(rf"(?:\b[A-Z][A-Za-z]{{0,5}}\.\s?){{2,6}}{_GAP}")
_DIVISION = re.compile(
    r"\b(?:art|article|amend|amendment|c|ch|chap|chapter|tit|title|pt|part|div|division|sched|"
    r"schedule|order|no|book|vol)s?\.?\s*(?:\d[\w.,:-]{0,9}|[IVXL]{1,6}|[A-Z])[,\s]*$",
    re.IGNORECASE,
)
# Sarbanes-Oxley, Dodd-Frank, Gramm-Leach-Bliley
_SPONSORS = re.compile(rf"\b[A-Z][a-z]+(?:-[A-Z][a-z]+)+(?:\s+Act)?{_GAP}")
_STATE = re.compile(rf"(?<!District of )\b(?:{_STATES}|state)(?:['’]s)?\s*$")
_PUBLIC_LAW = re.compile(r"Pub\.?\s?L\.?[^;]{0,40}$")
#: what a bare number with a letter in parentheses is where no sign says that it is a section
_LABEL = re.compile(
    r"(?:¶|\b(?:paras?|paragraphs?|pages?|pp?|exhibits?|exs?|counts?|objects?|items?|questions?|"
    r"lines?|forms?|nos?|figs?|tables?|schedules?|rules?|FRE|FRCP|FRCrP|articles?|arts?|footnotes?|"
    r"notes?|\d{1,2}\s+use|apartment|apt|room|suite|unit|step|tab|doc|ECF|dkt|form)\b\.?)\s*$",
    re.IGNORECASE,
)

_NAMED_AFTER = r"(?:Code|Codes|Act|Laws?|Statutes?|Constitution|Regulations|Ordinance|INA|ERISA)\b"
_OF_OTHER = re.compile(
    r"\s*,?\s+(?:of|to)\s+(?:the|that|such|th(?:is|ese)|his|her|its|their|our|your|Pub|an?|chapter|"
    r"appendix|article|part|public|executive|[A-Z][A-Za-z]{1,12})\b(?!\s+title)",
)
_OF_NAMED = re.compile(rf"[^.;()\n]{{0,70}}?\b{_NAMED_AFTER}|\s+that\s+code")
_NAME_AFTER = re.compile(
    rf"\s*,\s+(?:(?:[A-Z][\w.&]*|and)\s+){{1,5}}?(?:Code|Laws|Statutes|Ordinances)\b|"
    rf"\s+(?:{_STATES})\s+(?:Code|Laws|Statutes)"
)
# Sections of the Code have no dot, stroke or colon, nor two dashes: 893.13, 5/18-1, 2C:15-1.
# Nor is the volume of a report of cases a section: §550 U.S. 544.
_FOREIGN = re.compile(
    r"\d+\s+(?:U\.\s?S\.|S\.\s?Ct\.|F\.\s?(?:\dd|4th|Supp))|"
    r"\d+[A-Za-z]{0,3}(?:[.:]\d|/\d+-\d|[-‐‑‒–—−]\d+[A-Za-z]?[-‐‑‒–—−.]\d)"
)

# Sections that everybody names by number alone; a charge or a term shows which code it is.
_BY_NUMBER = (
    (
        re.compile(r"92[24]\([a-z]|1028A\b|3553\([a-f]\)|358[23]\([a-k]\)|2252A\("),
        18,
    ),
    (re.compile(r"841\((?:a\)\([12]|b\)\()"), 21),
    (re.compile(r"132[456]\b"), 8),
    (re.compile(r"58(?:41|45|61|71)\b|720[1-7]\b"), 26),
)
_EVERYDAY = re.compile(
    r"8(?:\(a\))?(?=[\s.,;:)]+\S|\.$)|7\(a\)\s+(?:SBA|loans?)|198[135]\b|10\(b\)|10b|8\(a\)\(|"
    r"22(?:41|54|55)(?:\([a-z]\))?\s+(?:motions?|petitions?|relief|habeas|proceedings?|claims?)|"
    r"504\s+(?:plans?|accommodations?)|1031\s+exchange|(?:179|199A)\s+deduction|230\s+immunity|"
    r"702\s+(?:surveillance|collection)|301\s+permit|529\s+plans?|125\s+(?:plans?|cafeteria)|"
    r"(?:401\(k\)|403\(b\)|457\(b\)|50[13]\(c\)|529\()"
)
_RULES = re.compile(
    r"(?:1[02]\(b\)|11\(c\)|35\(b\)|41\(g\)|56\(c\)|60\(b\)|404\(b\)|609\(|80[34]\()"
)
_HEADING = re.compile(
    r"\d{1,2}(?:[:.]\s+[A-Z]|,?\s+(?:below|above|herein|supra|infra|row|lot|block|township)\b)",
    re.IGNORECASE,
)

#: a code that is cited without a section sign
NUMBERED_CODE = re.compile(
    rf"\b(?:{_ACRONYMS}|(?i:penal\s+code)|O\.C\.G\.A\.|M\.G\.L\.|N\.J\.S\.A\.|N\.C\.G\.S\.|"
    r"[AKCOT]\.[RSC]\.[SAC]\.|R\.[CS]\.|Pa\.\s?C\.S\.|V\.S\.A\.|P\.S\.)\s*(?:c\.\s*)?(?=\d)"
)

_SENTENCE_END = re.compile(
    r"(?:[a-z]{4,}|[A-Z]{4,}|[)\]\d”\"])[.?!]+[\"”’)\]]*\s+(?=[A-Z“\"(§])|\n\s*\n"
)


def ends_sentence(text: str, start: int, end: int) -> bool:
    """Whether a sentence ends between two places."""
    return _SENTENCE_END.search(text, start, end) is not None


def law_before(before: str, bare: bool) -> int | None:
    """The title of the law that is named right before a section; ``OTHER``, ``SAME`` or none.

    ``before`` are the last characters before its sign, or with ``bare`` before its number.
    """
    title = _TITLE.search(before)
    if title is not None:
        return OTHER if _names_law(before[: title.start()]) else int(title["title"])
    if _ID.search(before):
        return SAME
    for act, number in _ACTS_WITH_TITLES:
        if act.search(before):
            return number
    return OTHER if _names_law(before) or (bare and _LABEL.search(before)) else None


def _names_law(before: str) -> bool:
    if _UNITED_STATES_CODE.search(before):
        return False
    near = before[-48:]
    initials = _INITIALS.search(near)
    return (
        (initials is not None and not re.match(r"U\.\s?S\.", initials.group()))
        or (_ANY_ACRONYM.search(near) is not None and before.upper() != before)
        or any(name.search(near) for name in (_NAME, _ACRONYM, _DIVISION, _SPONSORS, _STATE))
        or _PUBLIC_LAW.search(before) is not None
    )


def law_after(text: str, end: int) -> tuple[bool, bool]:
    """Whether the words after a section say that it is of something else, and of another law."""
    if _NAME_AFTER.match(text, end):
        return True, True
    of = _OF_OTHER.match(text, end)
    if of is None:
        return False, False
    return True, _OF_NAMED.match(text, of.start()) is not None


def is_foreign(text: str, at: int) -> bool:
    """Whether the number there has a form that no section of the United States Code has."""
    return _FOREIGN.match(text, at) is not None


def is_everyday(text: str, at: int, word: bool, bare: bool) -> bool:
    """Whether the number there is one of everyday use, a heading or a rule of court.

    ``word``: *section* stands before it, ``bare``: nothing does.
    """
    return bool(
        _EVERYDAY.match(text, at)
        or (word and _HEADING.match(text, at))
        or (bare and _RULES.match(text, at))
    )


def title_by_number(text: str, at: int) -> int | None:
    """The title of the few sections that are known by their number."""
    return next((title for pattern, title in _BY_NUMBER if pattern.match(text, at)), None)
