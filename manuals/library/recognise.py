"""What a file is, told by its content: which manual, which edition. Its name is never a sign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lxml import etree

from manuals.model.official_file import OfficialFile, Recognised
from manuals.model.source import SOURCES
from tam.errors import DamagedFile, UnrecognisedFile


def recognise(path: Path, name: str = "") -> Recognised | None:
    """The manual and edition that a file holds; ``name`` is how messages call the file.

    Each source is asked in order, one function shared by several once. ``None`` for a file that
    is nothing like a manual (a text, a picture, a table). Raises ``DamagedFile`` for one that is
    empty, truncated, encrypted, without text or an error page, and ``UnrecognisedFile`` for
    another document in one of the formats that manuals have.
    """
    file = OfficialFile(path, name)
    if not file.head.strip():
        raise DamagedFile(f"{file.name}: the file is empty; fetch it again or leave it out")
    if file.kind in ("zip", "gzip"):
        raise UnrecognisedFile(f"{file.name}: an archive; unpack it into the folder")
    for ask in dict.fromkeys(source.recognise for source in SOURCES.values()):
        seen = ask(file)
        if seen is not None:
            return seen
    _REFUSALS[file.kind](file)
    return None


def _refuse_xml(file: OfficialFile) -> None:
    tag = etree.QName(file.root).localname
    if tag not in ("schema", "stylesheet"):
        raise UnrecognisedFile(
            f"{file.name}: XML with the root <{tag}>, not one of the ICD-10-CM files; leave it out"
        )


def _refuse_html(file: OfficialFile) -> None:
    shown = f"a web page ({file.html_title!r})" if file.html_title else "a web page"
    if file.path.suffix.lower() in (".pdf", ".xml"):
        raise DamagedFile(
            f"{file.name}: {shown} saved as {file.path.suffix}; fetch the file again from its "
            f"publisher"
        )
    raise UnrecognisedFile(f"{file.name}: {shown}, not Title 18 of the U.S. Code; leave it out")


def _refuse_pdf(file: OfficialFile) -> None:
    shown = " ".join(file.pages[0].split())[:60] if file.pages else ""
    raise UnrecognisedFile(f"{file.name}: a PDF of another kind ({shown!r}); leave it out")


def _refuse_text(file: OfficialFile) -> None:
    if file.path.suffix.lower() in (".xml", ".pdf", ".htm", ".html"):
        raise DamagedFile(
            f"{file.name}: neither XML, HTML nor PDF inside; fetch it again or leave it out"
        )


_REFUSALS: dict[str, Callable[[OfficialFile], None]] = {
    "xml": _refuse_xml,
    "html": _refuse_html,
    "pdf": _refuse_pdf,
    "": _refuse_text,
}
