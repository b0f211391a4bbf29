"""The commands over manuals: what they print, and that it parses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click.testing
import pytest
from small_files import ERROR_PAGE, gpo_part, index, tabular, title18, usc_section, write

from manuals.library.choose import VARIABLE
from tam.cli import main
from tam.cli.sections import fold
from tam.tables import columns

STATUTE = "<p class='statutory-body'>(a) None may {}.</p>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    many = "".join(
        f"<diag><name>E11.2{n}</name><desc>Kidneys, kind {n}</desc></diag>" for n in range(3, 10)
    )
    return write(
        tmp_path_factory.mktemp("manuals"),
        {
            "2024/t.xml": tabular(2024),
            "2025/t.xml": tabular(2025, many),
            "2025/i.xml": index(2025),
            "2023/t.htm": title18(
                2023, "20240103", usc_section("32", "Noise", STATUTE.format("whistle"))
            ),
            "2024/t.htm": title18(
                2024, "20250106", usc_section("32", "Noise", STATUTE.format("hum"))
            ),
            "2023-gpo/iii.html": gpo_part("III"),
            "bad.pdf": ERROR_PAGE,
        },
    )


def tam(*words: str | Path, code: int = 0) -> click.testing.Result:
    result = click.testing.CliRunner().invoke(main, [str(word) for word in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def shown(*words: str | Path) -> Any:
    return json.loads(tam(*words).stdout)


def test_status(folder: Path) -> None:
    output = tam("manuals", "status", "--manuals", folder).stdout
    assert output.startswith(f"5 editions in {folder}\n")
    lines = {line.split()[0]: line for line in output.splitlines() if "/20" in line}
    assert "2024-10-01 to 2025-09-30" in lines["tabular/2025"]
    assert lines["tabular/2025"].endswith("2025/t.xml")
    assert "\nproblems:\n  bad.pdf: a web page ('404 Not Found') saved as .pdf" in output
    assert "\nnotes:\n  2023-gpo/iii.html: Part III of title18/2023, left out" in output


def test_status_as_json(folder: Path) -> None:
    value = shown("manuals", "status", "--manuals", folder, "--json")
    names = [edition["name"] for edition in value["editions"]]
    assert names == ["tabular/2024", "tabular/2025", "index/2025", "title18/2023", "title18/2024"]
    first = value["editions"][0]
    assert first["sections_by_kind"]["category"] == 1
    assert first["sections"] == sum(first["sections_by_kind"].values())
    assert len(first["files"][0]["sha256"]) == 64
    assert (first["effective_from"], first["effective_to"]) == ("2023-10-01", "2024-09-30")
    assert len(value["problems"]) == 1


def test_quick_status_parses_nothing(folder: Path) -> None:
    value = shown("manuals", "status", "--manuals", folder, "--json", "--quick")
    assert {edition["sections"] for edition in value["editions"]} == {0}


def test_open_code(folder: Path) -> None:
    output = tam("open", "e1122", "--manuals", folder).stdout
    assert output.startswith("E11.22  Sweet blood and tired kidneys\n")
    assert "ICD-10-CM Tabular List, FY 2025 (2025); in force 2024-10-01 to 2025-09-30" in output
    assert "note: the newest edition here that has it; other editions here: 2024" in output
    assert "includes: sweetness  [from E11]" in output
    assert "\ncode:\n  valid\n" in output
    assert "\x1b" not in output
    assert output.rstrip().rpartition("\n")[2].startswith("2025/t.xml, characters ")


def test_open_children_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tam.cli.sections.CHILDREN_SHOWN", 3)
    few = tam("open", "E11.2", "--year", "2025", "--manuals", folder).stdout
    assert "below (8):" in few
    assert "... and 5 more" in few
    full = tam("open", "E11.2", "--year", "2025", "--manuals", folder, "--full").stdout
    assert "... and" not in full
    assert "E11.29 Kidneys, kind 9" in full


def test_open_long_text_is_cut_unless_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tam.cli.sections.TEXT_SHOWN", 60)
    words = ("open", "E11", "--year", "2025", "--manuals", folder)
    assert "more characters: --full" in tam(*words).stdout
    full = tam(*words, "--full").stdout
    assert "--full" not in full
    assert "Kidneys, kind 9" in full


def test_open_as_json_is_complete(folder: Path) -> None:
    value = shown("open", "E11.22", "--year", "2025", "--manuals", folder, "--json")
    assert (value["key"], value["year"], value["exact"]) == ("E11.22", 2025, True)
    assert value["notes"] == [{"kind": "includes", "text": "sweetness", "at": "E11"}]
    assert value["code"]["valid"]
    assert value["path"][-1] == "E11.2 Sweet blood and kidneys"
    assert value["provenance"]["file"] == "2025/t.xml"
    start, end = value["provenance"]["span"]
    assert end > start
    assert value["edition"]["effective_to"] == "2025-09-30"
    children = shown("open", "E11.2", "--year", "2025", "--manuals", folder, "--json")["children"]
    assert len(children) == 8


def test_open_below_the_leaves_says_so(folder: Path) -> None:
    output = tam("open", "18 USC 32(a)(9)", "--year", "2024", "--manuals", folder).stdout
    assert "note: title18/2024 has nothing under exactly 18 U.S.C. § 32(a)(9)" in output
    assert "None may hum." in output


def test_diff(folder: Path) -> None:
    output = tam("diff", "18 USC 32", "2023", "2024", "--manuals", folder).stdout
    assert "[-whistle-]{+hum+}" in output.replace(" ", "")
    assert "\x1b" not in output


def test_a_mistake_is_one_line_and_exits_with_2(folder: Path) -> None:
    command = [sys.executable, "-m", "tam", "open", "E11.99", "--manuals", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("tam: tabular/2025 has no code E11.99")
    assert done.stderr.count("\n") == 1


def test_the_sample_is_said_plainly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("manuals.library.choose.is_filled", lambda folder: False)
    monkeypatch.chdir(tmp_path)
    result = tam("manuals", "status", "--quick")
    assert "SAMPLE" in result.stderr
    assert "SAMPLE" not in result.stdout


def test_list() -> None:
    output = tam("manuals", "list").stdout
    assert "ussg/2021" in output
    assert "tam-benchmarks" in output
    records = shown("manuals", "list", "--json")
    assert all("urls" in record or record["edition"] == "tam-benchmarks" for record in records)


def test_fetch_says_what_is_wrong(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tam", "manuals", "fetch", "ussg/2022", "--to", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "fetch ussg/2021" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_columns() -> None:
    assert columns([("a", "n"), ("bb", "10")], right=(1,)) == "a    n\nbb  10"


def test_lines_fold_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    line = "  " + "word " * 40
    assert fold([line]) == [line]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "50")
    folded = fold([line, ""])
    assert max(map(len, folded)) <= 50
    assert folded[1].startswith("    word")
    assert folded[-1] == ""
