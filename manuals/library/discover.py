"""A folder of any layout -> the editions in it, and a line for each file that is not right.

Every file is recognised by its content (``recognise``). A line is an *error* (the file is left
out), a *warning* (read, but look at it) or a *note* (nothing to do). Errors and warnings stop
``strict`` discovery; otherwise one bad file does not keep the others from being read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Literal

from manuals.library.recognise import recognise
from manuals.model.official_file import PrintedEdition, Recognised
from manuals.model.section_id import edition_name
from manuals.model.sections import Edition, ManualFile
from manuals.model.source import SOURCES, Source, edition_title
from manuals.model.years import dated
from tam.errors import BadOption, EditionConflict, ManualError, one_line
from tam.files import sha256_file

#: the largest official file is below 10 MB; a larger one than this is no manual (bytes)
LARGEST = 200 * 1024 * 1024

Level = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line about a file of the folder; ``error`` is what strict discovery raises."""

    level: Level
    line: str
    error: ManualError | None = None


@dataclass(frozen=True, slots=True)
class Discovery:
    """The editions of a folder, by source and year, and what there is to say about its files."""

    folder: Path
    editions: tuple[Edition, ...]
    findings: tuple[Finding, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Errors and warnings, one line each."""
        return tuple(f.line for f in self.findings if f.level != "note")

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out on purpose, one line each."""
        return tuple(f.line for f in self.findings if f.level == "note")


@dataclass(frozen=True, slots=True)
class _Candidate:
    file: ManualFile
    seen: Recognised

    @property
    def folder_year(self) -> int | None:
        return year_of_folder(self.file.path)


@dataclass
class _Collector:
    strict: bool
    findings: list[Finding] = field(default_factory=list)

    def add(self, level: Level, line: str, error: ManualError | None = None) -> None:
        # A file's name may hold line ends and other control characters; a finding is one line.
        line = one_line(line)
        if self.strict and level != "note":
            raise error or EditionConflict(line)
        self.findings.append(Finding(level, line, error))


def discover(folder: Path, strict: bool = False) -> Discovery:
    """Find the editions below a folder.

    Links that lead out of the folder, hidden files and files over 200 MB are left out, with a
    note. Raises ``BadOption`` when there is no such folder and, when ``strict``, the first error
    or warning as an exception.
    """
    if not folder.is_dir():
        raise BadOption(f"{folder}: no such folder; give the folder that holds the manuals")
    collect = _Collector(strict)
    candidates = []
    for path, name, seen in _recognised(folder, collect):
        file = ManualFile(name, sha256_file(path), path.stat().st_size)
        candidates.append(_Candidate(file, seen))
    editions = []
    for (source, year), group in _grouped(candidates):
        editions.append(_edition(source, year, group, collect))
    return Discovery(folder, dated(editions), tuple(collect.findings))


def recognised_files(folder: Path) -> Iterator[Path]:
    """The files below a folder that hold a manual, in the order of their names."""
    for path, _, _ in _recognised(folder, _Collector(strict=False)):
        yield path


def _recognised(folder: Path, collect: _Collector) -> Iterator[tuple[Path, str, Recognised]]:
    for path, name in _files(folder, collect):
        try:
            seen = recognise(path, name)
        except PrintedEdition as error:
            collect.add("note", str(error))
        except ManualError as error:
            collect.add("error", str(error), error)
        except OSError as error:
            line = f"{name}: cannot be read ({error.strerror}); check its permissions"
            collect.add("error", line, ManualError(line))
        else:
            if seen is not None:
                yield path, name, seen


def year_of_folder(name: str) -> int | None:
    """The year that the nearest folder of a file names (``2023-gpo``, ``FY25``), if any does."""
    for part in reversed(PurePosixPath(name).parts[:-1]):
        found = re.search(r"(?<!\d)((?:19|20)\d\d)(?!\d)", part)
        if found:
            return int(found[1])
        short = re.fullmatch(r"FY[ _-]?(\d\d)", part, re.IGNORECASE)
        if short:
            return 2000 + int(short[1])
    return None


def _files(folder: Path, collect: _Collector) -> Iterator[tuple[Path, str]]:
    """The files below a folder in the order of their names, those to leave out left out."""
    hidden: Counter[str] = Counter()
    top = folder.resolve()
    for here, folders, files in os.walk(folder):
        place = Path(here)
        hidden.update(name for name in (*folders, *files) if name[0] == "." and name != ".lock")
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in folders:
            if (place / name).is_symlink():
                shown = (place / name).relative_to(folder).as_posix()
                collect.add("note", f"{shown}: a link to a folder is not followed; copy it here")
        for file in sorted(name for name in files if not name.startswith(".")):
            path = place / file
            shown = path.relative_to(folder).as_posix()
            reason = _reason_to_skip(path, top) or _name_fault(shown)
            if reason:
                collect.add("note", f"{shown}: {reason}")
            else:
                yield path, shown
    if hidden:
        names = ", ".join(sorted(hidden)[:3])
        collect.add("note", f"hidden files and folders are left out: {names}")


def _reason_to_skip(path: Path, top: Path) -> str:
    # realpath, unlike Path.resolve, takes links that lead in a circle (Python 3.11, 3.12).
    if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(top):
        return "a link that leads out of the folder is not followed; copy the file here"
    if not path.is_file():
        return "not a file; left out"
    if path.stat().st_size > LARGEST:
        return f"larger than {LARGEST // 1024**2} MB, so no manual; left out"
    return ""


def _name_fault(name: str) -> str:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return "a name that is not UTF-8 fits in no record of the index; rename the file"
    return ""


def _grouped(
    candidates: list[_Candidate],
) -> Iterator[tuple[tuple[str, int], list[_Candidate]]]:
    groups: dict[tuple[str, int], list[_Candidate]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.seen.source, candidate.seen.year), []).append(candidate)
    order = list(SOURCES)
    for key in sorted(groups, key=lambda key: (order.index(key[0]), key[1])):
        yield key, groups[key]


def _edition(source: str, year: int, group: list[_Candidate], collect: _Collector) -> Edition:
    """One edition of the files that say they are of it."""
    mine = _Collector(collect.strict)
    name = edition_name(source, year)
    for candidate in group:
        _check_folder(candidate, group, mine)
    whole = [candidate for candidate in group if not candidate.seen.part]
    parts = [candidate for candidate in group if candidate.seen.part]
    if whole:
        chosen = [_one_of(whole, name, mine)]
        for candidate in parts:
            mine.add(
                "note",
                f"{candidate.file.path}: Part {candidate.seen.part} of {name}, left out "
                f"because {chosen[0].file.path} is the whole",
            )
    else:
        chosen = _parts(parts, SOURCES[source].parts, name, mine)
    lacking = _incomplete(SOURCES[source], name, chosen)
    for line in lacking:
        collect.add("note", line)
    collect.findings.extend(mine.findings)
    return Edition(
        source=source,
        year=year,
        title=edition_title(source, year),
        release=chosen[0].seen.release,
        files=tuple(candidate.file for candidate in chosen),
        effective_from=date(year, 1, 1),
        effective_to=None,
        problems=(*(f.line for f in mine.findings if f.level != "note"), *lacking),
    )


def _check_folder(candidate: _Candidate, group: list[_Candidate], collect: _Collector) -> None:
    seen, said = candidate.seen, candidate.folder_year
    if said is None or said == seen.year:
        return
    twin = any(
        other.file.sha256 == candidate.file.sha256 and other.folder_year == seen.year
        for other in group
    )
    official = SOURCES[seen.source].official_years
    if official and seen.year < said and said not in official and twin:
        # The bundle repeats the manual that was in force in a year without one of its own.
        collect.add(
            "note",
            f"{candidate.file.path}: the manual of {seen.year}, which was in force in {said} too",
        )
        return
    collect.add(
        "warning",
        f"{candidate.file.path}: the folder says {said}, the content {seen.source}/{seen.year} "
        f"({seen.release}); read as {seen.year}: move or replace the file",
    )


def _one_of(group: list[_Candidate], name: str, collect: _Collector) -> _Candidate:
    """The file to read of several that say they are the same edition (or the same part)."""
    seen_first = sorted(group, key=lambda c: (c.folder_year != c.seen.year, c.file.path))
    chosen = seen_first[0]
    for other in seen_first[1:]:
        if other.file.sha256 == chosen.file.sha256:
            collect.add("note", f"{other.file.path}: the same bytes as {chosen.file.path}")
        else:
            collect.add(
                "error",
                f"{other.file.path}: {name} is here a second time in different bytes; "
                f"{chosen.file.path} is read: remove one of them",
            )
    return chosen


def _parts(
    group: list[_Candidate], order: Sequence[str], name: str, collect: _Collector
) -> list[_Candidate]:
    """One file for each part, in the order of the parts."""

    def rank(part: str) -> tuple[int, str]:
        number = part.split(",")[0]
        return (order.index(number) if number in order else len(order), part)

    by_part: dict[str, list[_Candidate]] = {}
    for candidate in group:
        by_part.setdefault(candidate.seen.part, []).append(candidate)
    return [
        _one_of(by_part[part], f"{name} Part {part}", collect) for part in sorted(by_part, key=rank)
    ]


def _incomplete(source: Source, name: str, chosen: list[_Candidate]) -> tuple[str, ...]:
    parts = [candidate.seen.part for candidate in chosen if candidate.seen.part]
    if not parts or set(source.parts) <= set(parts):
        return ()
    of = source.short or source.title
    return (f"{name}: only Part {', '.join(parts)} of {of} is here; fetch {name} for all",)
