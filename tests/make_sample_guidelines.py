"""Write the sample guidelines PDFs: the official format, our own wording, two fiscal years.

    python tests/make_sample_guidelines.py            # into manuals/sample/icd10cm/<year>/

Layout, fonts' roles and furniture follow the official PDF: bold headings by level with hanging
indents, dotted leaders in the table of contents, page feet, list items and wrapped
cross-references that look like headings, and changed text in bold. The bytes are the same on
every run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reportlab.lib.pagesizes import letter
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

ROMAN, BOLD, ITALIC = "Times-Roman", "Times-Bold", "Times-Italic"
HEAD = "Helvetica-Bold"
SIZE = 12.0
LEADING = 13.8
RIGHT = 540.0
TOP, BOTTOM = 730.0, 72.0

#: level -> (x of the label, x of the title, x of the text below it)
PLACES = {
    "section": (67.0, 149.0, 147.0),
    "A": (103.0, 121.0, 120.0),
    "1": (122.0, 149.0, 156.0),
    "a": (170.0, 188.0, 192.0),
    "1)": (200.0, 228.0, 228.0),
    "(a)": (251.0, 269.0, 264.0),
    "(i)": (287.0, 305.0, 300.0),
}
#: sizes of the headings by level; the lower levels are told by their bold face alone
SIZES = {"section": 16.0, "A": 14.0, "1": 13.0, "a": 14.0, "1)": 13.0, "title": 14.0}
IN_CONTENTS = {"section": 73.0, "A": 84.0, "1": 97.0, "a": 110.0, "title": 73.0}


@dataclass(frozen=True)
class Item:
    """A heading (``label`` set) or a paragraph; ``kind`` is the level or the paragraph's face."""

    kind: str
    text: str
    label: str = ""


@dataclass
class Layout:
    """Lines placed on pages: (x, y, font, size, text)."""

    first_page: int
    pages: list[list[tuple[float, float, str, float, str]]] = field(default_factory=lambda: [[]])
    y: float = TOP
    heads: list[tuple[Item, int]] = field(default_factory=list)

    def line(
        self, runs: Sequence[tuple[float, str, str]], gap: float = 0.0, size: float = SIZE
    ) -> None:
        """Place one line of (x, font, text) runs, on a new page when this one is full."""
        if self.y - gap < BOTTOM:
            self.pages.append([])
            self.y, gap = TOP, 0.0
        self.y -= gap
        for x, font, text in runs:
            self.pages[-1].append((x, self.y, font, size, text))
        self.y -= LEADING

    @property
    def page(self) -> int:
        return self.first_page + len(self.pages) - 1


def wrap(text: str, font: str, width: float, size: float = SIZE) -> Iterator[str]:
    line = ""
    for word in text.split():
        trial = f"{line} {word}".strip()
        if line and stringWidth(trial, font, size) > width:
            yield line
            line = word
        else:
            line = trial
    yield line


def heading(layout: Layout, item: Item) -> None:
    label_x, title_x, _ = PLACES[item.kind]
    title_font = HEAD if item.kind in ("section", "A", "1") else BOLD
    label_font = {"section": HEAD, "A": HEAD, "(a)": ROMAN, "(i)": ROMAN}.get(item.kind, BOLD)
    if item.kind == "(i)":
        title_font = ROMAN
    size = SIZES.get(item.kind, SIZE)
    title_x = max(title_x, label_x + stringWidth(item.label + " ", label_font, size))
    first, *rest = wrap(item.text, title_font, RIGHT - title_x, size)
    runs = [(label_x, label_font, item.label), (title_x, title_font, first)]
    layout.line(runs, gap=12.0, size=size)
    layout.heads.append((item, layout.page))
    for more in rest:
        layout.line([(PLACES[item.kind][1], title_font, more)], size=size)


def paragraph(layout: Layout, item: Item, level: str) -> None:
    x = PLACES[level][2]
    font = {"bold": BOLD, "see": ITALIC, "caption": BOLD}.get(item.kind, ROMAN)
    indent = 36.0 if item.kind == "item" else 0.0
    gap = 0.0 if item.kind in ("item", "follow") else 6.0
    for number, line in enumerate(wrap(item.text, font, RIGHT - x - indent)):
        layout.line([(x + indent, font, line)], gap=gap if number == 0 else 0.0)


def body(items: Sequence[Item], first_page: int) -> Layout:
    layout = Layout(first_page)
    level = "section"
    for item in items:
        if item.label:
            if item.kind == "section" and layout.heads:
                layout.y = min(layout.y, BOTTOM - 1)
            heading(layout, item)
            level = item.kind
        elif item.kind == "title":
            if item.text.startswith("Appendix"):
                layout.y = BOTTOM - 1
                layout.line([])
                layout.heads.append((item, layout.page))
            size = SIZES["title"]
            width = stringWidth(item.text, HEAD, size)
            layout.line([(306 - width / 2, HEAD, item.text)], gap=6.0, size=size)
        else:
            paragraph(layout, item, level)
    return layout


def contents(heads: Sequence[tuple[Item, int]], shift: int) -> Layout:
    layout = Layout(2)
    for item, page in heads:
        if item.kind not in IN_CONTENTS:
            continue
        x = IN_CONTENTS[item.kind]
        lines = list(wrap(f"{item.label} {item.text}".strip(), ROMAN, 400.0))
        for line in lines[:-1]:
            layout.line([(x, ROMAN, line)])
        number = f" {page + shift}"
        room = RIGHT - x - stringWidth(lines[-1] + number, ROMAN, SIZE)
        dots = "." * int(room / stringWidth(".", ROMAN, SIZE))
        layout.line([(x, ROMAN, lines[-1] + dots + number)])
    return layout


def front(year: int) -> Layout:
    layout = Layout(1)
    for font, text in (
        (HEAD, "ICD-10-CM Official Guidelines for Coding and Reporting"),
        (BOLD, f"FY {year} -- UPDATED October 1, {year - 1}"),
        (BOLD, f"(October 1, {year - 1} - September 30, {year})"),
        (BOLD, "Sample for tests: own wording in the official layout, not the official text"),
    ):
        layout.line([(306 - stringWidth(text, font, SIZE) / 2, font, text)], gap=6.0)
    for text in (
        "These pages imitate the shape of the yearly guidelines so that a parser can be tried "
        "without the real ones. Nobody may code a patient's record from them.",
        "Section I holds conventions, rules for the whole classification and rules by chapter. "
        "Section II is about the principal diagnosis, Section III about further diagnoses, and "
        "Section IV about visits of outpatients.",
    ):
        for number, line in enumerate(wrap(text, ROMAN, RIGHT - 72)):
            layout.line([(72.0, ROMAN, line)], gap=6.0 if number == 0 else 0.0)
    return layout


def draw(path: Path, year: int) -> None:
    items = list(text_of(year))
    opening = front(year)
    trial = body(items, 0)
    toc_pages = len(contents(trial.heads, 0).pages)
    layout = body(items, 2 + toc_pages)
    toc = contents(layout.heads, 0)
    pages = [*opening.pages, *toc.pages, *layout.pages]
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), pagesize=letter, invariant=1, pageCompression=1)
    canvas.setTitle(f"ICD-10-CM Official Guidelines for Coding and Reporting FY {year} (sample)")
    for number, lines in enumerate(pages, start=1):
        if number > 1:
            for y, font, text in (
                (43.0, ROMAN, "ICD-10-CM Official Guidelines for Coding and Reporting"),
                (31.0, BOLD, f"FY {year}"),
                (19.0, ROMAN, f"Page {number} of {len(pages)}"),
            ):
                canvas.setFont(font, 10.0)
                canvas.drawRightString(552.0, y, text)
        for x, y, font, size, text in lines:
            canvas.setFont(font, size)
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()


def head(level: str, label: str, text: str) -> Item:
    return Item(level, text, label)


def text_of(year: int) -> Iterator[Item]:
    """The sample's text. What differs between the years hangs on ``year``."""
    later = year >= 2025
    yield head(
        "section",
        "Section I.",
        "Conventions, rules for all chapters and rules of the single chapters",
    )
    yield Item("text", "What stands here holds in every setting unless a rule says otherwise.")
    yield head("A", "A.", "Conventions of the classification")
    yield Item("text", "Conventions are the signs and words that index and list use.")
    yield head("1", "1.", "Alphabetic Index and Tabular List")
    yield Item("text", "The index leads from a word to a code; the list says what the code holds.")
    yield Item("see", "See Section I.C.2. Neoplasms")
    yield head("1", "2.", "Shape of a code")
    yield Item(
        "text",
        "A code has three to seven characters. A category without children is a code by itself, such as I10.",
    )
    yield head("1", "3.", "Placeholder")
    yield Item(
        "text",
        "The letter X fills the places that are empty before a seventh character, as in T36-T50.",
    )
    yield head("1", "4.", "Abbreviations")
    yield head("a", "a.", "In the Alphabetic Index")
    yield Item("text", "NEC marks a condition that is told more exactly than any code can.")
    yield head("a", "b.", "In the Tabular List")
    yield Item("text", "NOS means that the record says no more.")
    yield head("1", "5.", "Exclusion notes")
    yield Item("text", "Two kinds of note keep codes apart.")
    yield head("a", "a.", "Excludes1")
    yield Item(
        "text",
        "The two conditions never stand together. If F45.8 and G47.63 have different causes, both may be given.",
    )
    yield head("a", "b.", "Excludes2")
    yield Item(
        "text", "The excluded condition is no part of this code, yet a patient may have both."
    )
    yield head(
        "1",
        "6.",
        "Cause and manifestation (“code first”, “use additional code” and the words “in diseases classified elsewhere”)",
    )
    yield Item(
        "text",
        "The cause comes first, then what it brings about. Dementia in another disease is F02.80 after a code from G20-.",
    )
    yield head("1", "7.", "“And”")
    yield Item("text", "In a title the word “and” stands for either or both.")
    yield head("A", "B.", "Rules for all chapters")
    yield head("1", "1.", "Finding a code")
    yield Item("text", "Look in the index first and then read the list. In detail:")
    # A list in running text whose numbers and letters look like headings.
    yield Item("item", "1. find the main word,")
    yield Item("item", "2. read the notes below it,")
    yield Item("item", "3. turn to the list.")
    yield head("1", "2.", "Level of detail")
    yield Item("text", "Give as many characters as there are. The steps are")
    yield Item("item", "a. category,")
    yield Item("item", "b. subcategory,")
    yield Item("item", "c. code.")
    yield head("1", "3.", "Codes from A00.0 through T88.9, Z00-Z99.8, U00-U85")
    yield Item("text", "Any of them may be the reason for a visit.")
    yield head("1", "4.", "Sequela (late effects)")
    yield Item(
        "text",
        "A late effect is what remains when the acute illness is over. There is no limit of time.",
    )
    yield head("1", "5.", "Side of the body")
    yield Item("text", "Where the list knows left and right, the code tells the side.")
    yield head("A", "C.", "Rules of the single chapters")
    yield Item("text", "Besides the rules above, some chapters have rules of their own.")
    yield from chapters(later)
    yield from other_sections(later)


RESERVED = "Reserved for future guideline expansion"

CHAPTERS = {
    3: "Diseases of the blood and the blood-forming organs and certain disorders of immunity (D50-D89)",
    5: "Mental and behavioral disorders (F01-F99)",
    6: "Diseases of the nervous system (G00-G99)",
    7: "Diseases of the eye (H00-H59)",
    8: "Diseases of the ear (H60-H95)",
    11: "Diseases of the digestive system (K00-K95)",
    12: "Diseases of the skin (L00-L99)",
    13: "Diseases of muscles, bones and connective tissue (M00-M99)",
    14: "Diseases of the genitourinary system (N00-N99)",
    16: "Conditions of the newborn (P00-P96)",
    17: "Malformations and chromosomal abnormalities (Q00-Q99)",
    18: "Symptoms, signs and findings (R00-R99)",
    20: "External causes (V00-Y99)",
    22: "Codes for special purposes (U00-U85)",
}


def chapters(later: bool) -> Iterator[Item]:
    written = {
        1: infections,
        2: neoplasms,
        4: diabetes,
        9: circulation,
        10: respiration,
        15: pregnancy,
        19: injuries,
        21: factors,
    }
    for number in range(1, 23):
        if number in written:
            yield from written[number](later)
        else:
            yield head("1", f"{number}.", f"Chapter {number}: {CHAPTERS[number]}")
            yield Item("text", RESERVED)


def infections(later: bool) -> Iterator[Item]:
    yield head("1", "1.", "Chapter 1: Infectious and parasitic diseases (A00-B99), U07.1, U09.9")
    yield head("a", "a.", "Human immunodeficiency virus (HIV)")
    yield head("1)", "1)", "Only confirmed cases")
    yield Item(
        "text", "Give B20 only when the illness is confirmed; the provider's word is enough."
    )
    yield head("1)", "2)", "Choice and order of codes")
    for label, title, text in (
        (
            "(a)",
            "Admitted because of the illness",
            "B20 comes first, then the conditions that go with it.",
        ),
        ("(b)", "Admitted for something else", "The reason of the stay comes first, then B20."),
        (
            "(c)",
            "Newly found or known for a long time before the patient came in",
            "It makes no difference for the order.",
        ),
        (
            "(d)",
            "Infected without an illness",
            "Z21 is right as long as there never was an illness.",
        ),
        ("(e)", "Test without a clear result", "R75 stands for a finding that proves nothing."),
        ("(f)", "Earlier illness", "Once B20, always B20; never R75 or Z21 afterwards."),
        ("(g)", "During pregnancy", "A code from O98.7- comes first, then B20 or Z21."),
        ("(h)", "Visit for a test", "Z11.4 is the reason of the visit, Z71.7 the talk about it."),
        ("(i)", "Treated and well", "B20 stays, and Z79.899 may be added."),
    ):
        yield head("(a)", label, title)
        yield Item("text", text)
    yield head(
        "a",
        "b.",
        "Germs as the cause of diseases that are classified in other chapters of the classification",
    )
    yield Item("text", "B95, B96 and B97 name the germ as an additional code.")
    yield head("a", "c.", "Sepsis")
    yield head("1)", "1)", "Coding of sepsis")
    yield head("(a)", "(a)", "Sepsis")
    yield Item("text", "A41.9 is right when the germ is not known.")
    yield head("(i)", "(i)", "Cultures without growth")
    yield Item("text", "They do not rule sepsis out; ask the provider.")
    yield head("(i)", "(ii)", "Urosepsis")
    yield Item("text", "The word says nothing; it has no code.")
    yield head("(a)", "(b)", "Severe sepsis")
    yield Item("text", "At least two codes: the infection and R65.20 or R65.21.")
    yield head("1)", "2)", "Septic shock")
    yield Item("text", "The infection comes first, then R65.21 or T81.12.")


def neoplasms(later: bool) -> Iterator[Item]:
    yield head("1", "2.", "Chapter 2: Neoplasms (C00-D49)")
    yield Item("caption", "General rules")
    yield Item(
        "text",
        "The chapter holds all malignant and most benign tumors. Start in the Neoplasm Table.",
    )
    yield head("a", "a.", "Treatment of the primary site")
    yield Item("text", "The malignancy is the principal diagnosis.")
    yield head("a", "b.", "Treatment of a secondary site")
    yield Item("text", "The metastasis comes first even while the primary is still there.")
    yield head("a", "c.", "Complications")
    yield head("1)", "1)", "Anemia with a malignancy")
    if later:
        yield Item("text", "The malignancy comes first, then D63.0.")
        yield Item("bold", "When the visit is for a transfusion alone, D63.0 still stands second.")
    else:
        yield Item("text", "D63.0 comes first when only the anemia is treated.")
    yield head(
        "1)", "2)", "Anemia that is due to chemotherapy, immunotherapy or to radiation therapy"
    )
    yield Item("text", "D64.81 for chemotherapy; after radiation the anemia, the tumor and Y84.2.")
    yield head("a", "d.", "Primary removed earlier")
    yield Item("text", "A code from Z85 tells where it was.")
    yield head(
        "a",
        "e.",
        "Visits for chemotherapy, immunotherapy and radiation therapy of any of these tumors",
    )
    yield head("1)", "1)", "The tumor is taken out at the same stay")
    yield Item("text", "The tumor comes first although therapy follows.")
    yield head("1)", "2)", "The visit is for therapy alone")
    yield Item("text", "Z51.0, Z51.11 or Z51.12 comes first, the tumor second.")


def diabetes(later: bool) -> Iterator[Item]:
    yield head("1", "4.", "Chapter 4: Endocrine, nutritional and metabolic diseases (E00-E89)")
    yield head("a", "a.", "Diabetes mellitus")
    yield Item(
        "text",
        "Codes of E08-E13 say the type, the organ and the complication in one. Use as many as are needed.",
    )
    yield head("1)", "1)", "Type")
    yield Item("text", "Age alone does not tell the type.")
    if later:
        yield head("(a)", "(a)", "Before any symptom")
        # Changed text in bold right below a heading must not become a part of its title.
        yield Item("bold", "Codes E10.A- stand for an early stage without symptoms.")
    yield head("1)", "2)", "Type not stated")
    yield Item("text", "Then it is E11.- by default.")
    yield head(
        "1)",
        "3)",
        "Insulin, tablets and injected drugs other than insulin in the care of a diabetic patient",
    )
    yield Item(
        "text",
        "Z79.4 for insulin, Z79.84 for tablets, Z79.85 for other injections; not when insulin is given for a short time. For a pregnant patient see",
    )
    yield Item("see", "Section I.C.15. Pregnancy, and also")
    yield Item("see", "I.C.4.a.2 Type not stated.")


def circulation(later: bool) -> Iterator[Item]:
    yield head("1", "9.", "Chapter 9: Diseases of the circulatory system (I00-I99)")
    yield head("a", "a.", "Hypertension")
    yield Item(
        "text", "High pressure and disease of heart or kidney are taken as cause and effect."
    )
    yield head("1)", "1)", "With disease of the heart")
    yield Item("text", "I11.0 with failure, then a code from I50.-.")
    yield head("1)", "2)", "With chronic disease of the kidney")
    yield Item("text", "I12.- first, then the stage from N18.-; acute failure is coded besides.")
    yield head("1)", "3)", "With both")
    yield Item("text", "I13.- holds the three together.")
    if later:
        yield head("1)", "4)", "Resistant to treatment")
        yield Item("text", "I1A.0 is an additional code after I10.")
    yield head("a", "b.", "Heart attack")
    yield Item("text", "For four weeks a code from I21; a second attack within that time is I22.")


def respiration(later: bool) -> Iterator[Item]:
    yield head("1", "10.", "Chapter 10: Diseases of the respiratory system (J00-J99), U07.0")
    yield head("a", "a.", "Chronic obstruction and asthma")
    yield Item("text", "J44 and J45 tell apart whether the disease is stable or acute.")
    yield head("a", "b.", "Acute failure of breathing")
    yield Item("text", "J96.0- may be principal when it is the chief reason of the stay.")


def pregnancy(later: bool) -> Iterator[Item]:
    yield head("1", "15.", "Chapter 15: Pregnancy, childbirth and the puerperium (O00-O9A)")
    yield head("a", "a.", "General rules")
    yield head("1)", "1)", "Codes of this chapter come first")
    yield Item(
        "text", "They stand before those of any other chapter, and only in the mother's record."
    )
    yield head("a", "b.", "Normal delivery, code O80")
    yield Item("text", "O80 stands alone, with Z37.0 for the child.")


def injuries(later: bool) -> Iterator[Item]:
    yield head(
        "1",
        "19.",
        "Chapter 19: Injury, poisoning and other consequences of external causes (S00-T88)",
    )
    yield head("a", "a.", "Seventh characters")
    yield Item("text", "A while the injury is treated, D while it heals, S for what remains.")
    yield head("a", "b.", "Burns")
    yield head("1)", "1)", "Order of burns and of the conditions that go with them")
    yield Item("text", "The deepest burn comes first:")
    yield Item("item", "a. outside the body before inside when the skin is worse,")
    yield Item("item", "b. inside first when the airways are worse,")
    yield Item("item", "c. another illness first when it brought the patient in.")
    yield head("1)", "2)", "Burns of one site")
    yield Item("text", "Only the highest degree counts.")
    yield head("a", "c.", "Drugs")
    yield head("1)", "1)", "Not from the table alone")
    yield Item("text", "The Table of Drugs leads to T36-T65; read the list too.")
    yield head("1)", "2)", "Ways to be harmed by a drug")
    yield head("(a)", "(a)", "Side effect of a drug rightly given")
    yield Item("text", "The effect first, then T36-T50 with the fifth or sixth character 5.")
    yield head("(a)", "(b)", "Poisoning")
    yield Item("text", "Wrong drug, wrong dose or wrong way.")
    yield head("(i)", "(i)", "A mistake in the order")
    yield Item("text", "The drug was ordered in error.")
    yield head("(i)", "(ii)", "Too much on purpose")
    yield Item("text", "Also a poisoning.")


def factors(later: bool) -> Iterator[Item]:
    yield head(
        "1",
        "21.",
        "Chapter 21: Factors that influence health and contact with health services (Z00-Z99)",
    )
    yield Item("text", "Z codes stand in any setting.")
    yield head("a", "a.", "Groups of Z codes")
    yield head("1)", "1)", "Contact")
    yield Item("text", "Z20 for contact, Z77 for harm from surroundings.")
    yield head("1)", "2)", "State")
    yield Item("text", "A state code tells what remains, such as:")
    for item in (
        "Z66 Do not resuscitate",
        "Z67 Blood type",
        "Z68 Body mass index",
        "Z79 Long-term drugs",
    ):
        yield Item("item", item)
    yield head("1)", "3)", "Social circumstances")
    yield Item(
        "text",
        "Z55-Z65 may rest on what the patient says."
        if later
        else "Z55-Z65 may rest on notes of social workers.",
    )


def other_sections(later: bool) -> Iterator[Item]:
    yield head("section", "Section II.", "Choosing the principal diagnosis")
    yield Item("text", "It is the condition that study showed to be the chief reason of the stay.")
    for label, title, text in (
        (
            "A.",
            "Symptoms and signs",
            "Chapter 18 is not for the principal diagnosis once there is a definite one.",
        ),
        (
            "B.",
            "Two conditions that belong together, each of which could be the principal diagnosis",
            "Either may come first.",
        ),
        ("C.", "Two diagnoses that meet the definition equally", "Any of them may come first."),
        ("D.", "Contrasting diagnoses", "Code them as if they were certain."),
        ("E.", "A symptom followed by contrasting diagnoses", "This rule was deleted."),
        ("F.", "Plan not carried out", "The reason stays the same."),
        ("G.", "Complications of care", "The complication comes first, from T80-T88."),
        ("H.", "Uncertain diagnosis", "“Probable” at discharge is coded as if it were so."),
    ):
        yield head("A", label, title)
        yield Item("text", text)
    yield head("A", "I.", "From observation to the ward")
    yield head("1", "1.", "After medical observation")
    yield Item("text", "What led to the stay comes first.")
    yield head("1", "2.", "After observation that followed surgery")
    yield Item("text", "The definition of the principal diagnosis decides.")
    yield head("A", "J.", "From outpatient surgery to the ward")
    yield Item("text", "A complication comes first; else the reason of the surgery.")
    yield head("section", "Section III.", "Further diagnoses")
    yield Item("text", "Report what was treated, studied or made the stay longer.")
    yield head("A", "A.", "Earlier conditions")
    yield Item("text", "Codes Z80-Z87 tell a history that matters.")
    yield head("A", "B.", "Findings out of the norm")
    yield Item("text", "Not coded unless the provider says what they mean.")
    yield head("A", "C.", "Uncertain diagnosis")
    yield Item("text", "As in Section II.H.")
    yield head(
        "section",
        "Section IV.",
        "Coding and reporting for outpatients and for visits in the office of a provider",
    )
    yield Item("text", "Words such as encounter and visit mean the same here.")
    yield head("A", "A.", "The condition listed first")
    yield head("1", "1.", "Outpatient surgery")
    yield Item("text", "The reason of the surgery comes first.")
    yield head("1", "2.", "Observation")
    yield Item("text", "The condition observed comes first.")
    yield head("A", "B.", "Uncertain diagnosis")
    yield Item("text", "Do not code “probable”; give the symptom.")
    yield head("A", "C.", "Checks without a complaint")
    yield Item(
        "text", "Z00.0- tells whether anything was found." if later else "Z00.0- is the code."
    )
    yield Item("title", "Appendix I")
    yield Item("title", "Sample rules about what was present on admission")
    yield Item("text", "Introduction")
    yield Item(
        "text",
        "The mark Y means that the condition was there at admission, N that it was not; U and W tell that nobody can say.",
    )


def main(folder: Path) -> None:
    for year in (2024, 2025):
        path = folder / "icd10cm" / str(year) / f"ICD-10-CM_FY{year % 100}_Guidelines_sample.pdf"
        draw(path, year)
        print(path.name)


if __name__ == "__main__":
    main(
        Path(sys.argv[1])
        if len(sys.argv) > 1
        else Path(__file__).resolve().parent.parent / "manuals" / "sample"
    )
