"""BM25 terms of a text; the same function serves index and query.

A code or citation is one term as a whole and again by its parts:

| text | terms |
|---|---|
| `E11.22` | `e11.22`, `e11` |
| `§2K2.1(b)(4)` | `2k2.1(b)(4)`, `2k2.1(b)`, `2k2.1`, `2k2` |
| `922(g)(1)` | `922(g)(1)`, `922(g)`, `922` |
| `I.C.2.e` | `i.c.2.e` |
| `U.S.C.` | `usc` |
| `E08-E13` | `e08-e13`, `e08`, `e13` |
| `non-insulin` | `non`, `insulin` |
| `$6,500` | `6500` |
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tam.errors import BadOption
from tam.settings import STEMMERS, STOPWORDS

# Lucene's English list without "no", "not" and "with", which tell entries of the manuals apart.
_ENGLISH_STOPWORDS = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it"}
    | {"of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this"}
    | {"to", "was", "will"}
)

_FOLDS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u201b\u2032\u02bc\u00b4", "'"),
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\x02", ""),
}
_ODD = re.compile(f"[{''.join(_FOLDS)}]")
_COMBINING = re.compile(r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")

# A run of letters and digits that single marks may join, then bracketed subdivisions.
_TOKEN = re.compile(r"[^\W_]+(?:[.,'/&-][^\W_]+)*(?:\([^\W_]{1,5}\))*")
_ACRONYM = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_SUBDIVISIONS = re.compile(r"(?:\([^\W_]{1,5}\))+$")
_PART = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_DOTTED = re.compile(r"[^\W_]+(?:\.[^\W_]+)+")


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """How terms are made; part of an index's manifest.

    ``grams`` above 0 makes the terms the character n-grams of that length of each word between
    word boundaries (``^``, ``$``), and a shorter word whole; codes are words then.
    """

    stemmer: str = "english"
    stopwords: str = "english"
    parts: bool = True
    grams: int = 0

    def __post_init__(self) -> None:
        if self.stemmer not in STEMMERS:
            raise BadOption(f"stemmer {self.stemmer!r} is not known: {', '.join(STEMMERS)}")
        if self.stopwords not in STOPWORDS:
            raise BadOption(f"stop words {self.stopwords!r} are not known: {', '.join(STOPWORDS)}")


def fold(text: str) -> str:
    """Lower case, with compatibility forms, accents, dashes, quotes and odd spaces folded."""
    plain = _ODD.sub(lambda odd: _FOLDS[odd[0]], text).replace("`", "'")
    if not plain.isascii():
        plain = _COMBINING.sub("", unicodedata.normalize("NFKD", plain))
        plain = _ODD.sub(lambda odd: _FOLDS[odd[0]], plain)
    return plain.lower()


# Tokens whose terms are kept, and how long one may be: a server reads texts of strangers.
_KEPT, _LONGEST = 1 << 16, 64


class Tokeniser:
    """Makes terms under one set of options. Remembers the terms of tokens met lately."""

    def __init__(self, options: TokenOptions | None = None) -> None:
        self.options = options or TokenOptions()
        self._stopwords = _ENGLISH_STOPWORDS if self.options.stopwords == "english" else frozenset()
        self._kept = lru_cache(maxsize=_KEPT)(self._made)

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, with repeats."""
        found: list[str] = []
        kept, made = self._kept, self._made
        for token in _TOKEN.findall(fold(text)):
            found.extend(kept(token) if len(token) <= _LONGEST else made(token))
        return found

    def _made(self, token: str) -> tuple[str, ...]:
        return tuple(self._grams(token) if self.options.grams else self._of_token(token))

    def counts(self, text: str) -> Counter[str]:
        """Each distinct term of a text with its count."""
        return Counter(self.terms(text))

    def _of_token(self, token: str) -> Iterator[str]:
        """The whole forms of a token, longest first, then its words."""
        base = _SUBDIVISIONS.sub("", token)
        if base != token:
            if not _has_digit(base):
                # ``code(s)``: the bracket holds an ending, not a subdivision.
                yield from self._of_base(base)
                for part in _PART.findall(token[len(base) :]):
                    yield from self._of_base(part)
                return
            yield token
            if self.options.parts:
                above = token[: token.rindex("(")]
                while above != base:
                    yield above
                    above = above[: above.rindex("(")]
        if base == token or self.options.parts:
            yield from self._of_base(base)

    def _grams(self, token: str) -> Iterator[str]:
        size = self.options.grams
        for word in _PART.findall(token):
            if word not in self._stopwords:
                bounded = "^" + word.removesuffix("'s") + "$"
                yield from (
                    bounded[at : at + size] for at in range(max(len(bounded) - size + 1, 1))
                )

    def _of_base(self, base: str) -> Iterator[str]:
        if _THOUSANDS.fullmatch(base):
            yield base.replace(",", "")
        elif _ACRONYM.fullmatch(base):
            yield from self._words([base.replace(".", "")])
        elif _DOTTED.fullmatch(base) and _has_digit(base):
            yield base
            head = base.partition(".")[0]
            # ``e11.22`` is found by its category; of a plain decimal the whole is enough.
            if self.options.parts and _has_digit(head) and not head.isdecimal():
                yield head
        elif "-" in base and _has_digit(base):
            yield base
            if self.options.parts:
                for part in base.split("-"):
                    yield from self._of_base(part)
        else:
            yield from self._words(_PART.findall(base))

    def _words(self, words: Sequence[str]) -> Iterator[str]:
        for word in words:
            if word in self._stopwords:
                continue
            if self.options.stemmer == "none" or not _WORD.fullmatch(word):
                yield word
            else:
                yield _stem(word)


def _has_digit(text: str) -> bool:
    return any(char.isdecimal() for char in text)


def _stem(word: str) -> str:
    import Stemmer

    # Made anew: a stemmer object is not safe to share between threads, and its cache is ours.
    stemmed: str = Stemmer.Stemmer("english", 0).stemWord(word)
    return stemmed
