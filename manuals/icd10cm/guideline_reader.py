"""Reading the pages of the ICD-10-CM guidelines: which lines open a section, and the text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from manuals.icd10cm.guideline_headings import (
    DETAIL,
    SECTION,
    Label,
    Outline,
    appendix,
    contents,
    contents_pages,
    labels,
)
from manuals.pdf.flow import Flow, furniture, is_full, joint
from manuals.pdf.lines import HYPHEN, Line

#: a heading takes at most this many lines
_MOST_LINES = 5
#: an indented title begins at least this far right of its label, in points
_INDENT = 8.0


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as found: where it begins in the text, and how many lines of print it takes."""

    key: str
    parent: str | None
    level: int
    title: str
    start: int
    page: int


def plain(title: str) -> str:
    """A title for comparison: letters and digits only, in lower case."""
    return re.sub(r"[\W_]+", "", title).lower()


class Reader:
    """One pass over the lines: builds the text and finds the headings."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.flow = Flow(lines)
        #: headings whose label does not come next
        self.doubts: list[str] = []
        #: bold lines that begin with a label and are no headings
        self.refused: list[str] = []
        dropped = furniture(lines)
        listing = contents_pages(lines)
        self.entries = contents(
            [
                line
                for number, line in enumerate(lines)
                if line.page in listing and number not in dropped
            ]
        )
        self._titles = {entry.key: plain(entry.title) for entry in self.entries}
        self.kept = [
            number
            for number, line in enumerate(lines)
            if number not in dropped and line.page not in listing
        ]
        self._right: dict[int, float] = {}
        for number in self.kept:
            line = lines[number]
            self._right[line.page] = max(self._right.get(line.page, 0.0), line.x1)
        sizes = sorted(lines[number].size for number in self.kept)
        self._body = sizes[len(sizes) // 2] if sizes else 0.0

    def front_title(self) -> str:
        """The title page's first line."""
        return self.lines[self.kept[0]].text

    def read(self) -> list[Heading]:
        headings: list[Heading] = []
        outline = Outline()
        position = 0
        broken = True
        while position < len(self.kept):
            line = self.lines[self.kept[position]]
            found = self._heading(position, outline)
            if found is not None:
                key, parent, level, end = found
                count = self._title_lines(position, level)
                start, printed = self._add_title(position, count)
                title = printed[end:].strip()
                if key.startswith("Appendix"):
                    title = self._appendix_title(position, count)
                headings.append(Heading(key, parent, level, title, start, line.page))
                position += count
                broken = True
                continue
            if position == 0:
                before = ""
            elif broken:
                before = "\n"
            else:
                before = self._joint(position)
            self.flow.add(self.kept[position], before)
            broken = False
            position += 1
        return headings

    def _joint(self, position: int) -> str:
        line = self.lines[self.kept[position - 1]]
        following = self.lines[self.kept[position]]
        return joint(line, following, self._right[line.page])

    def _heading(self, position: int, outline: Outline) -> tuple[str, str | None, int, int] | None:
        """Key, parent, level and where the title begins, when the line opens a section."""
        line = self.lines[self.kept[position]]
        name = appendix(line.text)
        if name is not None and line.bold and outline.is_open(SECTION):
            outline.close()
            return name, None, SECTION, len(line.text)
        readings = [
            label
            for label in labels(line.text)
            if _printed_as_heading(line, label) or self._is_detail(position, label, outline)
        ]
        label = next((label for label in readings if outline.follows(label)), None)
        if label is None:
            label = next((label for label in readings if self._known(label, line, outline)), None)
            if label is not None:
                key = outline.key(label)
                self.doubts.append(f"page {line.page}: heading {key} is out of sequence")
        if label is None:
            if readings:
                self.refused.append(f"page {line.page}: {line.text[:40]}")
            return None
        parent = outline.parent(label)
        return outline.enter(label), parent, label.level, label.end

    def _known(self, label: Label, line: Line, outline: Outline) -> bool:
        """Whether a line in bold whose label does not come next is a heading all the same.

        It is when it is printed larger than the text, or when the contents list it.
        """
        if line.size > self._body + 0.3 and outline.fits(label):
            return True
        title = self._titles.get(outline.key(label), "")
        return bool(title) and plain(line.text[label.end :]).startswith(title[:20])

    def _is_detail(self, position: int, label: Label, outline: Outline) -> bool:
        """Whether ``(i)`` in plain type is a heading: alone on its line, text set in below it.

        The official PDFs print this level in the type of the text.
        """
        line = self.lines[self.kept[position]]
        if label.level != DETAIL or not outline.follows(label) or not line.text[label.end :]:
            return False
        last = position + self._title_lines(position, DETAIL)
        if last >= len(self.kept) or re.search(r"[.,;:]$", self.lines[self.kept[last - 1]].text):
            return False
        below = self.lines[self.kept[last]]
        return below.page != line.page or below.x0 > line.x0 + _INDENT

    def _title_lines(self, position: int, level: int) -> int:
        """Over how many lines a heading runs.

        Larger type tells where it ends. A heading in the size of the text goes on while its lines
        are full and as bold; in plain type the title is set in by another amount than the text.
        """
        first = self.lines[self.kept[position]]
        count = 1
        while count < _MOST_LINES and position + count < len(self.kept):
            last = self.lines[self.kept[position + count - 1]]
            following = self.lines[self.kept[position + count]]
            apart = following.y1 - last.y1 if following.page == last.page else 0.0
            alike = abs(following.size - first.size) < 0.3 and following.bold == first.bold
            if not alike or apart > 1.6 * first.size or following.x0 < first.x0 + _INDENT:
                break
            if first.font != following.font and first.bold and not first.italic:
                break
            if abs(first.size - self._body) < 0.3 and not self._wraps(position + count, first):
                break
            count += 1
        return count

    def _wraps(self, position: int, first: Line) -> bool:
        """Whether the line at ``position`` continues a heading in the size of the text."""
        last = self.lines[self.kept[position - 1]]
        line = self.lines[self.kept[position]]
        if not is_full(last, line, self._right[last.page]):
            return False
        if first.bold or position + 1 >= len(self.kept):
            return first.bold
        below = self.lines[self.kept[position + 1]]
        return below.page == line.page and line.x0 - below.x0 > 2.0

    def _add_title(self, position: int, count: int) -> tuple[int, str]:
        """Add a heading's lines as one; where it begins and how it reads."""
        start = self.flow.add(self.kept[position], "\n\n" if position else "")
        title = self.lines[self.kept[position]].text
        for number in self.kept[position + 1 : position + count]:
            between = "" if title.endswith((HYPHEN, "-")) else " "
            self.flow.add(number, between)
            title += between + self.lines[number].text
        return start, title.replace(HYPHEN, "-")

    def _appendix_title(self, position: int, count: int) -> str:
        """The next line, when it is printed larger than the text."""
        if position + count >= len(self.kept):
            return ""
        below = self.lines[self.kept[position + count]]
        return below.text if below.size > self._body + 0.3 else ""


def _printed_as_heading(line: Line, label: Label) -> bool:
    """Whether label and title are bold; the label alone may be plain."""
    done = 0
    for fragment in line.fragments:
        done += len(fragment.text)
        if done > label.end and not fragment.bold and fragment.text.strip(" .:"):
            return False
    return line.bold
