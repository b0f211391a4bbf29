"""References: what a person types, what a text cites, and the keys that come of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manuals.icd10cm.codes import is_code, normalise_code, undotted
from manuals.model.keys import EXAMPLES, find_references, parse_reference
from tam.errors import BadReference

SOURCES_OF = {
    "statute": ("title18",),
    "statute_group": ("title18",),
    "code": ("tabular",),
    "code_range": ("tabular",),
    "chapter": ("tabular",),
    "guideline_section": ("guidelines",),
    "index_path": ("index", "eindex", "drugs", "neoplasm"),
}
TYPED = [
    # statutes
    ("18 USC 922(g)(1)", "statute", "18 U.S.C. § 922(g)(1)"),
    ("18 U.S.C. §924", "statute", "18 U.S.C. § 924"),
    ("18 U.S.C.§924", "statute", "18 U.S.C. § 924"),
    ("18usc924", "statute", "18 U.S.C. § 924"),
    ("18\u00a0U.S.C.\u2009§\u202f924", "statute", "18 U.S.C. § 924"),
    ("18 U.S. Code § 924", "statute", "18 U.S.C. § 924"),
    ("18 U.S.C.A. § 924", "statute", "18 U.S.C. § 924"),
    ("Title 18, United States Code, Section 922(g)", "statute", "18 U.S.C. § 922(g)"),
    ("section 924", "statute", "18 U.S.C. § 924"),
    ("§ 924", "statute", "18 U.S.C. § 924"),
    ("924(c)", "statute", "18 U.S.C. § 924(c)"),
    ("section 1956 of this title", "", ""),
    ("18 usc 1028a", "statute", "18 U.S.C. § 1028A"),
    ("18 usc 2332B(a)", "statute", "18 U.S.C. § 2332b(a)"),
    ("18 USC 922 (g) (1)", "", ""),
    ("18 USC 922 (g)(1)", "statute", "18 U.S.C. § 922(g)(1)"),
    ("21 USC 841", "statute", "21 U.S.C. § 841"),
    ("7 U.S.C. § 2024", "statute", "7 U.S.C. § 2024"),
    ("15 U.S.C. § 78dd–1", "statute", "15 U.S.C. § 78dd-1"),
    ("16 USC 668dd", "statute", "16 U.S.C. § 668dd"),
    ("46 U.S.C. App. § 1903", "statute", "46 U.S.C. App. § 1903"),
    ("8 U.S.C. § 1182 note", "statute", "8 U.S.C. § 1182 Notes"),
    ("18 U.S.C. § 922 Notes", "statute", "18 U.S.C. § 922 Notes"),
    ("18 U.S.C. § 922 Notes > Amendments", "statute", "18 U.S.C. § 922 Notes > Amendments"),
    ("18 U.S.C. § 922 Source Credit", "statute", "18 U.S.C. § 922 Source Credit"),
    ("18 U.S.C. § 4051(a)#2", "statute", "18 U.S.C. § 4051(a)#2"),
    ("18 USC chapter 44", "statute_group", "18 U.S.C. Chapter 44"),
    ("18 USC ch. 113b", "statute_group", "18 U.S.C. Chapter 113B"),
    ("18 U.S.C. Part I", "statute_group", "18 U.S.C. Part I"),
    (
        "18 U.S.C. Chapter 227, Subchapter A",
        "statute_group",
        "18 U.S.C. Chapter 227, Subchapter A",
    ),
    # guidelines manual
    ("2k2.1", "guideline", "§2K2.1"),
    ("§2K2.1(b)(4)(A)", "guideline", "§2K2.1(b)(4)(A)"),
    ("USSG §2K2.1", "guideline", "§2K2.1"),
    ("U.S.S.G. § 2K2.1.", "guideline", "§2K2.1"),
    ("2K2.1 application note 3", "guideline", "§2K2.1 Application Note 3"),
    ("2K2.1 comment. (n.3)", "guideline", "§2K2.1 Application Note 3"),
    ("§2B1.1, cmt. n.3(A)", "guideline", "§2B1.1 Application Note 3"),
    ("Application Note 8 of the Commentary to §2D1.1", "guideline", "§2D1.1 Application Note 8"),
    ("§2K2.1 application notes", "guideline", "§2K2.1 Application Notes"),
    ("§2K2.1 background", "guideline", "§2K2.1 Background"),
    ("§2K2.1 Historical Note", "guideline", "§2K2.1 Historical Note"),
    ("§2K2.1 Statutory Provisions", "guideline", "§2K2.1 Statutory Provisions"),
    ("USSG Chapter 2, Part K", "guideline_group", "USSG Chapter 2, Part K"),
    ("Chapter Two, Part A, Subpart 1", "guideline_group", "USSG Chapter 2, Part A, Subpart 1"),
    ("USSG Chapter 4", "guideline_group", "USSG Chapter 4"),
    ("2K2.1 app note 3", "guideline", "§2K2.1 Application Note 3"),
    ("app note 3 to 2K2.1", "guideline", "§2K2.1 Application Note 3"),
    (
        "USSG Chapter 5, Part A Application Note 1",
        "guideline_group",
        "USSG Chapter 5, Part A Application Note 1",
    ),
    (
        "USSG Ch. 5, Pt. A, comment. (n.1)",
        "guideline_group",
        "USSG Chapter 5, Part A Application Note 1",
    ),
    (
        "USSG Chapter 3, Part D Concluding Commentary",
        "guideline_group",
        "USSG Chapter 3, Part D Concluding Commentary",
    ),
    (
        "USSG Chapter 1, Part A, Subpart 1 > 1. Authority",
        "guideline_group",
        "USSG Chapter 1, Part A, Subpart 1 > 1. Authority",
    ),
    ("sentencing table", "guideline_group", "USSG Chapter 5, Part A Sentencing Table"),
    ("§§2b1.2–2b1.3", "guideline", "§§2B1.2-2B1.3"),
    ("§§2B1.2-2B1.3 Historical Note", "guideline", "§§2B1.2-2B1.3 Historical Note"),
    ("Appendix A Historical Note", "appendix_a", "Appendix A Historical Note"),
    ("Appendix A > 31 U.S.C. § 5311 note", "appendix_a", "Appendix A > 31 U.S.C. § 5311 note"),
    ("Appendix A", "appendix_a", "Appendix A"),
    ("Appendix A 18 USC 924(c)", "appendix_a", "Appendix A > 18 U.S.C. § 924(c)"),
    ("Appendix A > 15 U.S.C. § 78dd-1", "appendix_a", "Appendix A > 15 U.S.C. § 78dd-1"),
    # ICD-10-CM
    ("E1122", "code", "E11.22"),
    ("e11.22", "code", "E11.22"),
    ("s72002a", "code", "S72.002A"),
    ("I10", "code", "I10"),
    ("c61", "code", "C61"),
    ("E11.-", "code", "E11"),
    ("E11.6-", "code", "E11.6"),
    ("E08-E13", "code_range", "E08-E13"),
    ("C7A–C7A", "code_range", "C7A-C7A"),
    ("Chapter 4", "chapter", "Chapter 4"),
    ("Introduction > Excludes1", "chapter", "Introduction > Excludes1"),
    ("I.C.2.e", "guideline_section", "I.C.2.e"),
    ("Section I.C.2.e.1", "guideline_section", "I.C.2.e.1"),
    ("1.C.2.e", "guideline_section", "I.C.2.e"),
    ("i.c.2.e.(1)", "guideline_section", "I.C.2.e.1"),
    ("I.C", "guideline_section", "I.C"),
    ("IV", "guideline_section", "IV"),
    ("Appendix I", "guideline_section", "Appendix I"),
    ("Abscess > brain", "index_path", "Abscess > brain"),
    ("Abscess>brain", "index_path", "Abscess > brain"),
    ("Letter A", "index_path", "Letter A"),
    ("Aspirin", "index_path", "Aspirin"),
    ("2,4-D", "index_path", "2,4-D"),
    ("I.Q.", "index_path", "I.Q."),
]


@pytest.mark.parametrize(("typed", "kind", "key"), TYPED)
def test_reads_what_a_person_types(typed: str, kind: str, key: str) -> None:
    if not kind:
        # Not one reference as a whole; the finder still sees what is in it.
        with pytest.raises(BadReference):
            parse_reference(typed)
        assert find_references(typed)
        return
    reference = parse_reference(typed)
    assert (reference.kind, reference.full_key) == (kind, key)
    assert reference.text == typed
    # A statute of another title has its place in Appendix A.
    source = "ussg" if kind == "statute" and not key.startswith("18 U.S.C. §") else kind
    assert reference.sources == SOURCES_OF.get(source, ("ussg",))
    again = parse_reference(key)
    assert (again.kind, again.full_key) == (kind, key)


@pytest.mark.parametrize(
    "typed",
    ["", "  ", "922", "12345", "18 USC", "18 USC 922(g", "§", "U.S.C. 5", "99 bottles",
     "§2K2.1 foo", "2K2", "E11 and E12 > "],
)  # fmt: skip
def test_refuses_what_is_no_reference(typed: str) -> None:
    with pytest.raises(BadReference) as caught:
        parse_reference(typed)
    assert EXAMPLES[0] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_error_are_references(example: str) -> None:
    assert parse_reference(example).full_key


@pytest.mark.parametrize("typed", ["S72.002AA", "s72002xxa", "E11.22XXXA"])
def test_a_code_has_at_most_seven_characters(typed: str) -> None:
    """Not an entry of the index: the message says what is wrong with it."""
    with pytest.raises(BadReference, match=f"'{typed}' is too long for a code"):
        parse_reference(typed)


def test_candidates_lead_from_the_subdivision_to_its_unit() -> None:
    assert parse_reference("18 USC 922(g)(1)").candidates == (
        "18 U.S.C. § 922(g)(1)",
        "18 U.S.C. § 922(g)",
        "18 U.S.C. § 922",
    )
    assert parse_reference("2K2.1 n.3").candidates == (
        "§2K2.1 Application Note 3",
        "§2K2.1 Application Notes",
        "§2K2.1",
    )
    assert parse_reference("18 USC 4051(a)#2").candidates[-1] == "18 U.S.C. § 4051#2"
    assert parse_reference("7 USC 2024(b)").appendix_key == "Appendix A > 7 U.S.C. § 2024(b)"


U = "18 U.S.C. § "
FOUND = [
    # chains, lists and ranges of statutes
    ("18 U.S.C. § 922(g)(1), (n)", [U + "922(g)(1)", U + "922(n)"]),
    ("18 U.S.C. §922(g)(1), (n), and 924(a)(8).", [U + "922(g)(1)", U + "922(n)", U + "924(a)(8)"]),
    ("18 U.S.C. §§ 1341, 1343, and 1349;", [U + "1341", U + "1343", U + "1349"]),
    ("18\u00a0U.S.C.\u2009§§\u20091341 and 1343", [U + "1341", U + "1343"]),
    ("18 U.S.C. §§ 2241–2244, 2251", [U + "2241", U + "2244", U + "2251"]),
    ("18 U.S.C. §§ 2241-44", [U + "2241", U + "2244"]),
    ("18 U.S.C. § 924(a)(1)-(4)", [U + "924(a)(1)", U + "924(a)(4)"]),
    ("18 U.S.C. § 1111(a) through (c)", [U + "1111(a)", U + "1111(c)"]),
    ("18 U.S.C. § 924(c)(1)(A)(i), (ii)", [U + "924(c)(1)(A)(i)", U + "924(c)(1)(A)(ii)"]),
    (
        "18 U.S.C. §§ 113(a)(2), (3), 114, 115(a), (b)(1)",
        [U + "113(a)(2)", U + "113(a)(3)", U + "114", U + "115(a)", U + "115(b)(1)"],
    ),
    ("18 U.S.C. § 2241 or § 2242", [U + "2241", U + "2242"]),
    ("18 U.S.C. § 1028A and 18 U.S.C. § 2252A(a)(5)(B)", [U + "1028A", U + "2252A(a)(5)(B)"]),
    ("18 U.S.C. § 2332b(a)", [U + "2332b(a)"]),
    ("15 U.S.C. § 78dd-1 and 16 U.S.C. 668dd", ["15 U.S.C. § 78dd-1", "16 U.S.C. § 668dd"]),
    ("26 U.S.C. §§ 5861–5872", ["26 U.S.C. § 5861", "26 U.S.C. § 5872"]),
    ("42 U.S.C. 1320a–7b(b)", ["42 U.S.C. § 1320a-7b(b)"]),
    ("Title 18, United States Code, Sections 2 and 371", [U + "2", U + "371"]),
    ("section 1956 of this title", [U + "1956"]),
    ("sections 922(g) and 924 of this title", [U + "922(g)", U + "924"]),
    ("section 7102 of Title 41, Public Contracts", ["41 U.S.C. § 7102"]),
    ("section 102 of the Controlled Substances Act (21 U.S.C. 802)", ["21 U.S.C. § 802"]),
    ("Pub. L. 98–473, §218(a)(1), Oct. 12, 1984", []),
    ("18 U.S.C. § 1343, 20 years in prison", [U + "1343"]),
    ("18 U.S.C. § 1343 (wire fraud)", [U + "1343"]),
    ("18 U.S.C. § 1591; or (B) an attempt", [U + "1591"]),
    ("18 U.S.C., 1940 ed., 88", []),
    ("118 U.S.C. 5 and 1.18 USC 4", []),
    ("18 U.S.C. § 3282 and 18 U.S.C. § 32", [U + "3282", U + "32"]),
    ("18 USC 12345678", []),
    # guidelines
    ("§2B1.1 and 2b1.1(b)(1)(H)", ["§2B1.1", "§2B1.1(b)(1)(H)"]),
    ("USSG §3E1.1(a), (b)", ["§3E1.1(a)", "§3E1.1(b)"]),
    ("§1B1.3(a)(1)(A) and (B)", ["§1B1.3(a)(1)(A)", "§1B1.3(a)(1)(B)"]),
    ("§§3D1.1–3D1.5, 5G1.2", ["§3D1.1", "§3D1.5", "§5G1.2"]),
    ("§§2A3.1–3.3", ["§2A3.1", "§2A3.3"]),
    ("§2K2.1, comment. (n.3)", ["§2K2.1 Application Note 3"]),
    ("Application Note 4(A) to §2K2.1", ["§2K2.1 Application Note 4"]),
    ("see §2B1.1.", ["§2B1.1"]),
    ("release 12B1.1 and 2B1.11.2", []),
    ("Chapter Three, Part B", ["USSG Chapter 3, Part B"]),
    ("chapter 44 of this title", ["18 U.S.C. Chapter 44"]),
    # codes
    ("E11.22, S72.002A; e11.9 too", ["E11.22", "S72.002A", "E11.9"]),
    ("coded E1122 or s72002a or W11XXXA", ["E11.22", "S72.002A", "W11.XXXA"]),
    ("vitamin B12 and T4 levels, 2D echo, H1N1", []),
    ("hypertension (I10)", ["I10"]),
    ("codes I10, I11.0 and I12", ["I10", "I11.0", "I12"]),
    ("category E11.- and E11.6-", ["E11", "E11.6"]),
    ("diabetes (E08-E13)", ["E08-E13"]),
    ("I51.4-I51.9 and Z79 Long-term therapy", ["I51.4", "I51.9", "Z79"]),
    ("AE11.22 and E11.22X9Z1", []),
    # guideline sections
    ("See Section I.C.9.a.", ["I.C.9.a"]),
    ("Section I.C.16. f. Bacterial sepsis", ["I.C.16.f"]),
    ("Section I.C.19. Adverse effects", ["I.C.19"]),
    ("section I.C.4.a.3 for information", ["I.C.4.a.3"]),
    ("Section I.C.1.g.1.c.i. for pneumonia", ["I.C.1.g.1.c.i"]),
    ("Section II.K and IV.A.1", ["II.K", "IV.A.1"]),
    ("type I. C. difficile", []),
]


@pytest.mark.parametrize(("text", "keys"), FOUND)
def test_finds_references_in_running_text(text: str, keys: list[str]) -> None:
    found = find_references(f"Under {text} here")
    assert [reference.full_key for reference in found] == keys


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("convicted under § 924(c)", [U + "924(c)"]),
        ("felon in possession, 922(g)(1)", [U + "922(g)(1)"]),
        ("Section 1956 and Section 1957", [U + "1956", U + "1957"]),
        ("section 102 of the Controlled Substances Act", []),
        ("took from the 401(k) of a 501(c)(3)", []),
        ("evidence under Rule 404(b)", []),
        ("Pub. L. 98–473, § 218", []),
    ],
)
def test_bare_sections_count_in_a_persons_text_only(text: str, keys: list[str]) -> None:
    assert [reference.full_key for reference in find_references(text, typed=True)] == keys
    assert find_references(text) == []


def test_ranges_name_their_end() -> None:
    first, last = find_references("18 U.S.C. §§ 2241–2244")
    assert (first.through, last.through) == ("18 U.S.C. § 2244", "")
    (codes,) = find_references("(E08-E13)")
    assert (codes.key, codes.through) == ("E08-E13", "E13")
    first, last = find_references("I51.4–I51.9")
    assert (first.full_key, first.through, last.full_key) == ("I51.4", "I51.9", "I51.9")
    first, _ = find_references("§§3D1.1–3D1.5")
    assert first.through == "§3D1.5"


@pytest.mark.parametrize(("text", "keys"), FOUND)
def test_spans_are_slices_in_order_without_overlap(text: str, keys: list[str]) -> None:
    end = 0
    for reference in find_references(text):
        assert text[reference.span[0] : reference.span[1]] == reference.text
        assert reference.span[0] >= end
        end = reference.span[1]


# -- round trips

SECTION = st.builds(
    lambda number, letter: f"{number}{letter}",
    st.integers(1, 9999),
    st.sampled_from(["", "A", "B"]),
)
SUBS = st.lists(
    st.one_of(
        st.sampled_from("abcdefghijklmnopqrstuvwxyz"),
        st.integers(1, 99).map(str),
        st.sampled_from(["A", "B", "ii", "iv", "xii", "I", "III"]),
    ),
    max_size=5,
).map(lambda names: "".join(f"({name})" for name in names))
LOWER_CASE = {"175", "706", "711", "2280", "2281", "2332", "3103", "3150"}


@given(SECTION, SUBS)
def test_statutes_round_trip(number: str, subs: str) -> None:
    if number.rstrip("AB") in LOWER_CASE:
        number = number.lower()
    key = f"18 U.S.C. § {number}{subs}"
    for typed in (key, key.lower(), key.replace("U.S.C. § ", "USC "), f"title {key}"[6:]):
        if typed == key.lower() and subs != subs.lower():
            continue
        assert parse_reference(typed).full_key == key
    (found,) = find_references(f"under {key}, which")
    assert found.full_key == key


@given(
    st.from_regex(r"[1-8][A-Z][1-9]\.[1-9][0-9]?", fullmatch=True),
    SUBS,
)
def test_guidelines_round_trip(number: str, subs: str) -> None:
    key = f"§{number}{subs}"
    assert parse_reference(key).full_key == key
    assert parse_reference(f"USSG {number.lower()}{subs}").full_key == key
    (found,) = find_references(f"see {key}; then")
    assert found.full_key == key


@given(st.from_regex(r"[A-Z][0-9][0-9AB](\.[0-9A-Z]{1,4})?", fullmatch=True))
def test_codes_round_trip(code: str) -> None:
    assert is_code(code)
    assert normalise_code(undotted(code).lower()) == code
    assert undotted(code) == code.replace(".", "")
    assert parse_reference(code).full_key == code
    assert [each.full_key for each in find_references(f"the code {code} is")] == [code]


@given(st.text(max_size=60))
def test_any_text_gives_references_or_none(text: str) -> None:
    found = find_references(text, typed=True)
    assert all(text[each.span[0] : each.span[1]] == each.text for each in found)
    for each in found:
        assert parse_reference(each.full_key).full_key == each.full_key
    try:
        key = parse_reference(text).full_key
    except BadReference:
        return
    assert parse_reference(key).full_key == key


def test_asking_for_a_number_never_gives_a_longer_one() -> None:
    text = "18 U.S.C. §§ 32, 132, 3282 and 1032A"
    keys = [reference.key for reference in find_references(text)]
    assert keys == [U + "32", U + "132", U + "3282", U + "1032A"]
    assert all(re.fullmatch(r"18 U\.S\.C\. § \d+[A-Z]?", key) for key in keys)
