"""The Index and the tables: titles, keys, references, text."""

from __future__ import annotations

from pathlib import Path

import pytest
from icd_files import check_spans, edition, real, sample

from manuals.icd10cm.index import parse_index
from manuals.model.sections import Manual, Ref


def parse(tmp_path: Path, body: str, source: str = "index") -> Manual:
    path = tmp_path / "index.xml"
    path.write_text(f"<ICD10CM.index><title>T</title>{body}</ICD10CM.index>", "utf-8")
    return parse_index([path], edition(source))


def entry(tmp_path: Path, inner: str) -> Manual:
    return parse(tmp_path, f"<letter><title>A</title><mainTerm>{inner}</mainTerm></letter>")


@pytest.fixture(scope="module")
def index(sample_manuals: Path) -> Manual:
    return sample(sample_manuals, "index/2025")


def test_keys_leave_nonessential_words_out(index: Manual) -> None:
    section = index.get("Abscess > brain > amebic")
    assert section.parent == "Abscess > brain"
    assert section.path == (
        "Letter A",
        "Abscess (acute) (of soft tissue) (with pus)",
        "brain (any part) (from the ear)",
    )
    brain = index.get("Abscess > brain")
    assert brain.title == "brain (any part) (from the ear)"
    assert brain.heading == (
        "Abscess (acute) (of soft tissue) (with pus) > brain (any part) (from the ear)"
    )
    assert brain.refs == (Ref("code", "G06.0"),)
    assert index.own_text(brain) == "brain (any part) (from the ear) (code=G06.0)"


def test_lines_are_indented_by_level(index: Manual) -> None:
    lines = index.subtree_text(index.get("Abscess")).split("\n")
    assert lines[0].startswith("Abscess (")
    assert lines[1].startswith("  brain (")
    assert lines[2] == "    amebic (code=A06.6)"


@pytest.mark.parametrize(
    ("title", "short", "full"),
    [
        ("Abasia<nemod>(-astasia) (old)</nemod>", "Abasia", "Abasia (-astasia) (old)"),
        ("Loss<nemod>(of)</nemod> NEC", "Loss NEC", "Loss (of) NEC"),
        ("Loss<nemod>(of)</nemod>, late", "Loss, late", "Loss (of), late"),
        ("Loss<nemod>(a)</nemod>of<nemod>(b)</nemod>", "Loss of", "Loss (a) of (b)"),
        ("<nemod>(L)</nemod>-form", "-form", "(L)-form"),
        ("<nemod>(both sides)</nemod>", "both sides", "(both sides)"),
        ("  Loss \n of  ", "Loss of", "Loss of"),
        ("", "(untitled)", "(untitled)"),
    ],
)
def test_titles(tmp_path: Path, title: str, short: str, full: str) -> None:
    manual = entry(tmp_path, f"<title>{title}</title><code>R10.0</code>")
    section = manual.get(short)
    assert section.title == full


def test_entry_without_title_element(tmp_path: Path) -> None:
    assert entry(tmp_path, "<code>R10.0</code>").get("(untitled)").refs


@pytest.mark.parametrize(
    ("inner", "refs", "line"),
    [
        ("<code>S72.0-</code>", [Ref("code", "S72.0")], "X (code=S72.0-)"),
        ("<code>S72.-</code>", [Ref("code", "S72")], "X (code=S72.-)"),
        ("<see>Pain, chest</see>", [Ref("see", "Pain, chest")], "X (see=Pain, chest)"),
        ("<seecat>T71</seecat>", [Ref("see", "T71")], "X (see=T71)"),
        ("<subcat>T75.0</subcat>", [Ref("see", "T75.0")], "X (see=T75.0)"),
        (
            "<seeAlso>Pain</seeAlso><code>R52</code>",
            [Ref("code", "R52"), Ref("see_also", "Pain")],
            "X (code=R52, see_also=Pain)",
        ),
        (
            "<code>E11.21</code><manif>N08</manif>",
            [Ref("code", "E11.21"), Ref("manifestation", "N08")],
            "X (code=E11.21, manif=N08)",
        ),
        ("<manif>some words</manif>", [], "X (manif=some words)"),
        ("<code/><see> </see>", [], "X"),
    ],
)
def test_pointers(tmp_path: Path, inner: str, refs: list[Ref], line: str) -> None:
    manual = entry(tmp_path, f"<title>X</title>{inner}")
    section = manual.get("X")
    assert list(section.refs) == refs
    assert manual.own_text(section) == line


def test_repeated_paths_are_told_apart(index: Manual) -> None:
    first, second = index.get("Pressure > high"), index.get("Pressure > high#2")
    assert first.refs == (Ref("see", "Hypertension"),)
    assert (second.version, second.citation) == (2, "Pressure > high")


def test_cells_carry_their_column(sample_manuals: Path) -> None:
    drugs = sample(sample_manuals, "drugs/2025")
    section = drugs.get("Aspirin > with codeine")
    assert Ref("cell", "T40.2X1", "Poisoning Accidental (unintentional)") in section.refs
    assert Ref("cell", "T40.2X5", "Adverse effect") in section.refs
    assert "Underdosing: T40.2X6" in drugs.own_text(section)
    # dashes say that there is no code
    assert len(drugs.get("Alcohol").refs) == 4
    assert "--" not in drugs.own_text(drugs.get("Alcohol"))
    assert drugs.get("2-propanol").path == ("Letter #",)


def test_neoplasm_table(sample_manuals: Path) -> None:
    neoplasm = sample(sample_manuals, "neoplasm/2025")
    wall = neoplasm.get("Neoplasm, neoplastic > abdomen, abdominal > wall")
    assert Ref("cell", "C79.2", "Malignant Secondary") in wall.refs
    assert Ref("see_also", "Neoplasm, skin") in wall.refs
    skin = neoplasm.get("Neoplasm, neoplastic > abdomen, abdominal > wall > skin")
    assert skin.refs == (Ref("cell", "C44.509", "Malignant Primary"),)


@pytest.mark.parametrize("source", ["index", "eindex", "drugs", "neoplasm"])
@pytest.mark.parametrize("year", [2024, 2025])
def test_spans_nest(sample_manuals: Path, source: str, year: int) -> None:
    manual = sample(sample_manuals, f"{source}/{year}")
    assert manual.sections
    check_spans(manual)


@pytest.mark.real
@pytest.mark.parametrize(
    ("source", "main_terms", "terms", "refs"),
    [
        ("index", 8_100, 72_924, 62_721 + 12_136 + 2_057),
        ("eindex", 314, 7_750, None),
        ("drugs", 5_177, 2_251, None),
        ("neoplasm", 1, 1_938, None),
    ],
)
def test_real_counts(
    real_manuals: Path, source: str, main_terms: int, terms: int, refs: int | None
) -> None:
    manual = real(real_manuals, source, 2025)
    kinds = [section.kind for section in manual.sections]
    assert (kinds.count("main_term"), kinds.count("term")) == (main_terms, terms)
    if refs is not None:
        assert sum(len(section.refs) for section in manual.sections) == refs
    check_spans(manual)
