"""Case files and year tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.domains.icd.cases import parse_codes
from eval.domains.model import DOMAINS
from eval.queries.case_files import Case, read_case_file, read_years, with_years
from eval.queries.cases import read_cases
from tam.errors import BadCases, BadOption

ICD_HEAD = "hadm_id,note_id,input_text,output_icd_codes,year\n"
LEGAL_HEAD = "docket_id,input,output\n"


def of_domain(name: str, path: Path) -> list[Case]:
    domain = DOMAINS[name]
    return read_case_file(path, domain.columns, domain.read_answer)


def read_icd_cases(path: Path) -> list[Case]:
    return of_domain("icd", path)


def read_legal_cases(path: Path) -> list[Case]:
    return of_domain("legal", path)


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_icd_cases(tmp_path: Path) -> None:
    text = (
        ICD_HEAD
        + '1,1-DS,"First line, with a comma.\nSecond ""quoted"" line.","[""J441"", ""I10""]",2025\n'
        + '2,2-DS,One line.,"e11.22; Z79.4, e1122",\n'
    )
    first, second = read_icd_cases(written(tmp_path / "cases.csv", text))
    assert first.case_id == "1"
    assert first.note_id == "1-DS"
    assert first.text == 'First line, with a comma.\nSecond "quoted" line.'
    assert first.answer == ("J44.1", "I10")
    assert (first.year, first.line) == (2025, 2)
    assert second.answer == ("E11.22", "Z79.4")
    assert (second.year, second.line) == (None, 4)
    assert "First line" not in repr(first)  # a case's text never gets into a log by accident


@pytest.mark.parametrize(
    ("cell", "codes"),
    [
        ('["J441", "I10"]', ("J44.1", "I10")),
        ("['J441', 'I10']", ("J44.1", "I10")),
        ("J441,I10", ("J44.1", "I10")),
        ("J441 I10;S72002A", ("J44.1", "I10", "S72.002A")),
        ("[]", ()),
        ("", ()),
    ],
)
def test_codes_of_a_cell(cell: str, codes: tuple[str, ...]) -> None:
    assert parse_codes(cell) == codes


def test_legal_cases_and_years(tmp_path: Path) -> None:
    cases = read_legal_cases(
        written(tmp_path / "c.csv", LEGAL_HEAD + "a,Facts.,15\nb,More.,\nc,x,7.0\n")
    )
    assert [(case.case_id, case.answer, case.year) for case in cases] == [
        ("a", 15, None),
        ("b", None, None),
        ("c", 7, None),
    ]
    table = "docket_id,sentencing_year\na,2021\nb,\nz,2020\n"
    years = read_years(written(tmp_path / "y.csv", table))
    assert years == {"a": 2021, "b": None, "z": 2020}
    assert [case.year for case in with_years(cases, years)] == [2021, None, None]


def test_the_table_wins_over_the_case_and_a_gap_in_it_does_not(tmp_path: Path) -> None:
    text = "docket_id,input,output,year\na,x,1,2016\nb,x,1,2016\n"
    cases = read_legal_cases(written(tmp_path / "c.csv", text))
    assert [case.year for case in with_years(cases, {"a": 2025, "b": None})] == [2025, 2016]


def test_byte_order_mark_crlf_and_spreadsheet_years(tmp_path: Path) -> None:
    text = "\ufeff" + ICD_HEAD.replace("\n", "\r\n") + '1,n,"a\r\nb",I10,2025.0\r\n'
    (case,) = read_icd_cases(written(tmp_path / "c.csv", text))
    assert (case.year, case.answer) == (2025, ("I10",))


def test_a_very_long_note(tmp_path: Path) -> None:
    text = ICD_HEAD + f'1,n,"{"word " * 60_000}",I10,2025\n'
    (case,) = read_icd_cases(written(tmp_path / "c.csv", text))
    assert len(case.text) == 300_000


def test_corpus_by_columns_and_names_of_ones_own(tmp_path: Path) -> None:
    assert read_cases(written(tmp_path / "l.csv", LEGAL_HEAD + "a,Facts.,1\n"))[0].name == "legal"
    own = written(tmp_path / "own.csv", "id,note,codes\n7,Text.,I10\n")
    names = {"case_id": "id", "text": "note", "answer": "codes"}
    domain, (case,) = read_cases(own, names)
    assert (domain.name, case.case_id, case.answer) == ("icd", "7", ("I10",))
    with pytest.raises(BadCases, match=r"name yours with --column"):
        read_cases(own)
    with pytest.raises(BadOption, match="no such column"):
        DOMAINS["icd"].columns.renamed({"txt": "note"})


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "no column names"),
        (ICD_HEAD.replace("note_id", "hadm_id") + "1,n,t,I10,2025\n", 1, "comes twice"),
        (ICD_HEAD.replace("input_text", "text") + "1,n,t,I10,2025\n", 1, "no column 'input_text'"),
        (ICD_HEAD + "1,n,t,I10,2025\n1,n,t,I10,2025\n", 3, "line 2 already"),
        (ICD_HEAD + "1,n,t,I10,25\n", 2, "'25' is not a year"),
        (ICD_HEAD + "1,n,t,I10,3025\n", 2, "not a year"),
        (ICD_HEAD + '1,n,"two\nlines",I10,2025\n2,n,t,I10,x\n', 4, "not a year"),
        (ICD_HEAD + "1,n,t,I10;banana,2025\n", 2, "'banana'"),
        (ICD_HEAD + "1,n,t,[1],2025\n", 2, "not a text"),
        (ICD_HEAD + ",n,t,I10,2025\n", 2, "hadm_id is empty"),
        (ICD_HEAD + "1,n,   ,I10,2025\n", 2, "input_text of case '1' is empty"),
        (ICD_HEAD + "1,n,t,I10\n", 2, "4 cells under 5 columns"),
        (ICD_HEAD + "1,n,t,I10,I11,2025\n", 2, "6 cells under 5 columns"),
        (ICD_HEAD + '1,n,"open,I10,2025\n', 2, "not a CSV row"),
    ],
)
def test_bad_icd_files(tmp_path: Path, text: str, line: int, reason: str) -> None:
    path = written(tmp_path / "cases.csv", text)
    with pytest.raises(BadCases, match=reason) as caught:
        read_icd_cases(path)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}:")
    assert "\n" not in message


def test_no_cases_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadCases, match="no cases below"):
        read_icd_cases(written(tmp_path / "cases.csv", ICD_HEAD))


def test_a_level_that_is_none(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", LEGAL_HEAD + "a,Facts.,probation\n")
    with pytest.raises(BadCases, match=r"c\.csv:2: output of case 'a' is not an offense level"):
        read_legal_cases(path)


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes((ICD_HEAD + "1,n,caf\xe9,I10,2025\n").encode("latin-1"))
    with pytest.raises(BadCases, match=r"cases\.csv:2: not UTF-8"):
        read_icd_cases(path)


def test_messages_do_not_quote_a_long_cell(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", ICD_HEAD + "1,n,t,I10,the patient came in with a cough\n")
    with pytest.raises(BadCases) as caught:
        read_icd_cases(path)
    assert "cough" not in str(caught.value)
    path = written(tmp_path / "d.csv", ICD_HEAD + "1,n,t,thepatientcameinwithacough,2025\n")
    with pytest.raises(BadCases) as caught:
        read_icd_cases(path)
    assert "cough" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("docket_id,sentencing_year\na,2021\na,2022\n", "comes twice"),
        ("docket_id,year\na,2021\n", "no column 'sentencing_year'"),
        ("docket_id,sentencing_year\na,soon\n", "'soon' is not a year"),
        ("docket_id,sentencing_year\n,2021\n", "docket_id is empty"),
    ],
)
def test_bad_year_tables(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadCases, match=reason):
        read_years(written(tmp_path / "years.csv", text))


@pytest.mark.real
def test_the_real_case_files(real_cases: Path) -> None:
    domain, icd = read_cases(real_cases / "icd_cases.csv")
    assert (domain.name, len(icd)) == ("icd", 4)
    assert {case.year for case in icd} == {2025, 2019}
    assert "T40.2X5A" in icd[3].answer
    domain, legal = read_cases(real_cases / "legal_cases.csv")
    assert (domain.name, len(legal)) == ("legal", 6)
    years = read_years(real_cases / "legal_years.csv")
    assert {case.year for case in with_years(legal, years)} == {2021, 2025}
