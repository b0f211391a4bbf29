"""Members of a zip, taken out with nothing trusted that the archive says of itself."""

from __future__ import annotations

import fnmatch
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from manuals.library.discover import LARGEST
from tam.errors import FetchError

#: all members together (bytes); the five XML files of a year are about 25 MB
LARGEST_TOTAL = 500 * 1024 * 1024
BLOCK = 1024 * 1024


def extract(archive: Path, patterns: Sequence[str], to: Path, name: str = "") -> list[Path]:
    """Write the members whose file name matches a pattern to the folder ``to``, without folders.

    ``name`` is how messages call the archive. Raises ``FetchError`` for a file that is not a zip,
    a member whose path leaves the archive or that is a link, one that unpacks to over 200 MB
    (whatever its header says), over 500 MB in all, two members of one name, or none that matches.
    """
    name = name or archive.name
    try:
        with zipfile.ZipFile(archive) as zipped:
            members = _wanted(zipped.infolist(), patterns, name)
            left = LARGEST_TOTAL
            written = []
            for member in members:
                target = to / PurePosixPath(member.filename).name
                left -= _copy(zipped, member, target, min(left, LARGEST), name)
                written.append(target)
            return written
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise FetchError(f"{name}: not a whole zip archive ({error}); fetch it again") from error


def _wanted(
    members: Sequence[zipfile.ZipInfo], patterns: Sequence[str], name: str
) -> list[zipfile.ZipInfo]:
    wanted: dict[str, zipfile.ZipInfo] = {}
    for member in sorted(members, key=lambda m: m.filename):
        _check_member(member, name)
        file = PurePosixPath(member.filename).name
        matches = any(fnmatch.fnmatchcase(file.lower(), pattern) for pattern in patterns)
        if member.is_dir() or not matches or "__MACOSX" in member.filename:
            continue
        if file.lower() in wanted:
            raise FetchError(f"{name}: two members are called {file!r}; unpack it by hand")
        wanted[file.lower()] = member
    if not wanted:
        raise FetchError(f"{name}: no member matches {', '.join(patterns)}; unpack it by hand")
    return list(wanted.values())


def _check_member(member: zipfile.ZipInfo, name: str) -> None:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    drive = len(member.filename) > 1 and member.filename[1] == ":"
    if path.is_absolute() or drive or ".." in path.parts:
        raise FetchError(f"{name}: the member {member.filename!r} leads out of the archive")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise FetchError(f"{name}: the member {member.filename!r} is a link")


def _copy(
    zipped: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, limit: int, name: str
) -> int:
    """Bytes written; counted as they come, because a header can understate them."""
    written = 0
    with zipped.open(member) as source, target.open("wb") as stream:
        while block := source.read(BLOCK):
            written += len(block)
            if written > limit:
                raise FetchError(
                    f"{name}: {member.filename!r} unpacks to more than {limit // 1024**2} MB"
                )
            stream.write(block)
    return written
