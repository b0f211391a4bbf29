"""One file of a folder as recognition sees it: opened once, each view made when it is asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tam.errors import DamagedFile, UnrecognisedFile

if TYPE_CHECKING:
    from lxml import etree

#: pages of a PDF that are looked at: title page, citation form, first contents page with the foot
TITLE_PAGES = 4

#: how a file begins -> what it is
_SIGNATURES = ((b"%PDF-", "pdf"), (b"PK\x03\x04", "zip"), (b"\x1f\x8b", "gzip"))


@dataclass(frozen=True, slots=True)
class Recognised:
    """A file of a manual. ``part`` names the part it holds (``III``) when it is not the whole."""

    source: str
    year: int
    release: str
    part: str = ""


class PrintedEdition(UnrecognisedFile):
    """The PDF of a manual that is read from its XML: nothing is lost without it."""


class OfficialFile:
    """A file by its content. ``name`` is how messages call it; its own name is never a sign.

    ``kind`` is ``pdf``, ``html``, ``xml``, ``zip``, ``gzip``, or empty for all else (a text).
    """

    def __init__(self, path: Path, name: str = "") -> None:
        self.path = path
        self.name = name or str(path)
        with path.open("rb") as stream:
            self.head = stream.read(4096)
        self.kind = _kind(self.head)

    @cached_property
    def text(self) -> str:
        """All of it as UTF-8, byte order mark left out, with signs for bytes that are none."""
        return self.path.read_bytes().decode("utf-8-sig", errors="replace")

    @cached_property
    def html_title(self) -> str:
        """The title of a web page as one line; empty without one."""
        found = re.search(r"<title[^>]*>(.*?)</title>", self.text, re.IGNORECASE | re.DOTALL)
        return " ".join(found[1].split()) if found else ""

    @cached_property
    def root(self) -> etree._Element:
        """The XML root. Raises ``DamagedFile``."""
        # A search that reads no official file does without lxml.
        from manuals.model.xmlsafe import parse_xml

        return parse_xml(self.path, self.name)

    @cached_property
    def pages(self) -> list[str]:
        """The text of a PDF's first pages.

        Raises ``DamagedFile`` for a file that is cut off, encrypted or without text.
        """
        from manuals.pdf.lines import open_pdf

        with open_pdf(self.path, self.name) as document:
            count = min(TITLE_PAGES, len(document))
            pages = [document[at].get_textpage().get_text_range() for at in range(count)]
        if not "".join(pages).strip():
            raise DamagedFile(
                f"{self.name}: the PDF has no text (a scan?); fetch the official file, or "
                f"recognise its text first"
            )
        return pages

    @cached_property
    def page_text(self) -> str:
        """The first pages as one line."""
        return re.sub(r"\s+", " ", " ".join(self.pages))


def _kind(head: bytes) -> str:
    for signature, kind in _SIGNATURES:
        # A PDF may carry up to a kilobyte of other bytes before its header (ISO 32000, annex).
        if signature in head[: 1024 if kind == "pdf" else len(signature)]:
            return kind
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = head.decode(encoding, errors="replace").lstrip().lower()
    if re.search(r"<!doctype\s+html|<html[\s>]", text):
        return "html"
    return "xml" if text.startswith("<") else ""
