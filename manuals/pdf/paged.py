"""Text of a PDF while it grows: normalised and page-wise side by side, with the map between them."""

from __future__ import annotations

from typing import TypedDict

from manuals.pdf.lines import HYPHEN, Hyphens


class PagedFields(TypedDict):
    """The fields of ``Manual`` that a PDF fills."""

    text: str
    raw: str
    page_starts: tuple[int, ...]
    raw_page_starts: tuple[int, ...]
    raw_map: tuple[tuple[int, int, int], ...]


class PagedText:
    """Collects visual lines into ``Manual.text`` and ``Manual.raw``.

    ``raw`` gets every line with a line end; ``text`` gets those that are no furniture, joined to
    what is before them as the caller says. A word broken at a line end is put together again in
    both; across a page end its first part keeps a hyphen in ``raw``.
    """

    def __init__(self, hyphens: Hyphens) -> None:
        self._hyphens = hyphens
        self._text: list[str] = []
        self._raw: list[str] = []
        self._starts: list[int] = []
        self._raw_starts: list[int] = []
        self._map: list[tuple[int, int, int]] = []
        self._open_pages = 0
        self._broken = False
        self._raw_broken = False
        self.length = 0
        self._raw_length = 0

    def page(self) -> None:
        """Begin the next page."""
        self._leave_broken()
        if self._raw_length:
            self._raw_put("\n")
        self._raw_starts.append(self._raw_length)
        self._open_pages += 1

    def furniture(self, text: str) -> None:
        """A line for ``raw`` alone: page head or foot, margin label, table of contents."""
        self._leave_broken()
        self._raw_line(text.replace(HYPHEN, ""), "")

    def line(self, text: str, joint: str) -> int:
        """A line of the page; returns where it begins in ``text``.

        ``joint`` (a blank, or one or two line ends) stands between it and the text before;
        it is left out at the very start and where a broken word goes on.
        """
        broken = text.endswith(HYPHEN)
        text = text.replace(HYPHEN, "")
        mended = ""
        if self._broken and joint == " ":
            left = self._text[-1].rsplit(" ", 1)[-1]
            mended = self._hyphens.join(left, text)[len(left) : -len(text) or None]
            joint = mended
        elif not self.length or (joint == " " and self._own_hyphen()):
            joint = ""
        start = self._put(joint)
        for _ in range(self._open_pages):
            self._starts.append(start)
        self._open_pages = 0
        raw_start = self._raw_line(text, mended)
        self._put(text)
        if text:
            self._map.append((raw_start, start, len(text)))
        self._broken = self._raw_broken = broken
        return start

    def fields(self) -> PagedFields:
        """All that was collected."""
        return PagedFields(
            text="".join(self._text),
            raw="".join(self._raw),
            page_starts=(*self._starts, *[self.length] * self._open_pages),
            raw_page_starts=tuple(self._raw_starts),
            raw_map=tuple(self._map),
        )

    def _leave_broken(self) -> None:
        if self._raw_broken:
            self._raw_put("-")
            self._raw_broken = False

    def _own_hyphen(self) -> bool:
        """Whether the text ends with a hyphen of its own, such as ``self-`` or ``(1)-``."""
        last = self._text[-1]
        return last[-1:] == "-" and last[-2:-1].isalnum()

    def _put(self, piece: str) -> int:
        if piece:
            self._text.append(piece)
            self.length += len(piece)
        return self.length

    def _raw_put(self, piece: str) -> None:
        if piece:
            self._raw.append(piece)
            self._raw_length += len(piece)

    def _raw_line(self, text: str, mended: str) -> int:
        """Append a line to ``raw``; returns where it begins."""
        if self._raw_broken:
            self._raw_put(mended)
            self._raw_broken = False
        elif self._raw_length and self._raw[-1][-1:] != "\n":
            self._raw_put("\n")
        start = self._raw_length
        self._raw_put(text)
        return start
