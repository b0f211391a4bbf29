"""Files of ICD-10-CM: by XML root, ``<version>`` and title or table head; by a PDF's first pages."""

from __future__ import annotations

import re

from lxml import etree

from manuals.model.official_file import OfficialFile, PrintedEdition, Recognised
from tam.errors import UnrecognisedFile


def recognise(file: OfficialFile) -> Recognised | None:
    """The edition of one of the six manuals that a file holds."""
    if file.kind == "xml":
        return _recognise_xml(file)
    return _recognise_pdf(file) if file.kind == "pdf" else None


def _recognise_xml(file: OfficialFile) -> Recognised | None:
    root, name = file.root, file.name
    tag = etree.QName(root).localname
    if tag.upper().startswith("ICD10PCS"):
        raise UnrecognisedFile(f"{name}: ICD-10-PCS (procedure codes), not ICD-10-CM; leave it out")
    if tag not in ("ICD10CM.tabular", "ICD10CM.index"):
        return None
    source = "tabular" if tag == "ICD10CM.tabular" else _index_source(root, name)
    version = (root.findtext("version") or "").strip()
    year = re.search(r"\b(?:19|20)\d\d\b", version)
    if year is None:
        raise UnrecognisedFile(
            f"{name}: <version> gives no year ({version!r}); fetch the official file again"
        )
    return Recognised(source, int(year[0]), version)


def _index_source(root: etree._Element, name: str) -> str:
    """The four files whose root is ``ICD10CM.index`` differ in title and table head."""
    title = (root.findtext("title") or "").lower()
    first = (root.findtext("indexHeading/head") or "").lower()
    for sign, text, source in (
        ("external cause", title, "eindex"),
        ("drug", title, "drugs"),
        ("neoplasm", title, "neoplasm"),
        ("index", title, "index"),
        ("substance", first, "drugs"),
        ("neoplasm", first, "neoplasm"),
    ):
        if sign in text:
            return source
    raise UnrecognisedFile(
        f"{name}: an ICD-10-CM index of unknown kind (title {title!r}, first column {first!r}); "
        f"leave it out"
    )


def _recognise_pdf(file: OfficialFile) -> Recognised | None:
    text, name = file.page_text, file.name
    upper = text.upper()
    if "ICD-10-PCS" in upper[:400]:
        raise UnrecognisedFile(f"{name}: ICD-10-PCS (procedure codes), not ICD-10-CM; leave it out")
    if "ICD-10-CM OFFICIAL GUIDELINES FOR CODING AND REPORTING" in upper:
        return _guidelines(text, name)
    if re.search(r"ICD-10-CM (TABULAR LIST|INDEX TO DISEASES|EXTERNAL CAUSE|TABLE OF)", upper):
        raise PrintedEdition(
            f"{name}: the print form of an ICD-10-CM file; only the XML form is read"
        )
    return None


def _guidelines(text: str, name: str) -> Recognised:
    found = re.search(r"\bFY\s?(20\d\d)\b", text) or re.search(
        r"October 1, 20\d\d\s*[-–—]\s*September 30, (20\d\d)", text
    )
    if found is None:
        raise UnrecognisedFile(
            f"{name}: the coding guidelines without their fiscal year on the title page; "
            f"fetch the official file again"
        )
    release = re.search(r"\bFY\s?20\d\d(?:\s*-+\s*UPDATED [A-Z][a-z]+ \d+, 20\d\d)?", text)
    return Recognised("guidelines", int(found[1]), release[0] if release else f"FY {found[1]}")
