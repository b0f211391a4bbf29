"""XML and HTML readers with entities, network and external files off."""

from __future__ import annotations

from pathlib import Path

from lxml import etree, html

from tam.errors import DamagedFile


def xml_parser() -> etree.XMLParser:
    """A parser that resolves no entities, loads no DTD and opens no connection."""
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        remove_pis=True,
        huge_tree=False,
    )


def parse_xml(path: Path, name: str = "") -> etree._Element:
    """The root element of an XML file; ``DamagedFile`` when it is truncated or not XML.

    ``name`` is how the message calls the file.
    """
    data = path.read_bytes()
    try:
        # Given the path, lxml fails on a name that is not UTF-8 and reports a wrong encoding as
        # an I/O error without words; bytes give XMLSyntaxError alone.
        return etree.fromstring(data, xml_parser())
    except (etree.XMLSyntaxError, LookupError, ValueError) as error:
        reason = " ".join(str(getattr(error, "msg", error)).split())
        raise DamagedFile(
            f"{name or path}: not a whole XML file ({reason}); fetch it again or leave it out"
        ) from error


def parse_html(path: Path) -> html.HtmlElement:
    """The root element of an HTML file, read as UTF-8, comments kept."""
    parser = html.HTMLParser(no_network=True, encoding="utf-8", huge_tree=True)
    data = path.read_bytes()
    try:
        root: html.HtmlElement | None = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DamagedFile(f"{path}: not HTML ({error}); fetch it again or leave it out") from error
    if root is None:
        raise DamagedFile(f"{path}: the file is empty; fetch it again or leave it out")
    return root
