"""Official manuals from their publishers, and the benchmark's bundle from the hub.

What has been fetched is recognised by its content before it is moved into place, so that an
error page or another year's file never becomes an edition.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock

from manuals.acquire.archive import extract
from manuals.acquire.catalogue import CatalogueFile, files_of, load_catalogue
from manuals.acquire.download import download
from manuals.library.discover import discover
from manuals.library.recognise import recognise
from manuals.model.section_id import edition_name
from tam.errors import FetchError, ManualError
from tam.files import replacing_folder

#: the dataset that holds every manual of the benchmark, and the name to fetch it by
BUNDLE_REPOSITORY = "manulife/tam-benchmarks"
BUNDLE = "tam-benchmarks"

#: the folder of unfinished downloads, inside the target folder
UNFINISHED = ".unfinished"
#: lets one process at a time fetch into a folder; stays there, empty
LOCK = ".lock"


def fetch(name: str, to: Path, catalogue: tuple[CatalogueFile, ...] | None = None) -> Path:
    """Fetch an edition (``icd10cm/2019``) or the bundle (``tam-benchmarks``) into ``to/<name>``.

    Returns that folder at once when it holds the editions already. Raises ``FetchError``, one
    line, when a file cannot be fetched or is not what the catalogue says; finished parts are
    kept for the next run.
    """
    if name == BUNDLE:
        return fetch_bundle(to)
    files = files_of(name, load_catalogue() if catalogue is None else catalogue)
    target = to / name
    with _working(to, name) as work:
        if not _holds(target, files):
            _refuse_other_files(target, name)
            with replacing_folder(target) as fresh:
                for number, file in enumerate(files):
                    _fetch_file(file, work / f"{number}.{file.kind}", fresh)
            shutil.rmtree(work)
    return target


@contextlib.contextmanager
def _working(to: Path, name: str) -> Iterator[Path]:
    """The folder of an unfinished download, one process at a time; no empty folder stays."""
    work = to / UNFINISHED / name.replace("/", "-")
    to.mkdir(parents=True, exist_ok=True)
    with FileLock(to / LOCK):
        work.mkdir(parents=True, exist_ok=True)
        try:
            yield work
        finally:
            _remove_empty(to, work, work.parent, (to / name).parent)


def _fetch_file(file: CatalogueFile, place: Path, fresh: Path) -> None:
    """One download, from the first of its URLs that gives what it should."""
    failures: list[FetchError] = []
    for number, url in enumerate(file.urls):
        here = place.with_name(f"{number}-{place.name}")
        try:
            if not here.exists():
                download(url, here, file.size, file.sha256)
            try:
                _unpack(file, url, here, fresh)
            except FetchError:
                here.unlink(missing_ok=True)
                raise
            return
        except FetchError as error:
            failures.append(error)
    more = f" (and {len(failures) - 1} more addresses failed)" if len(failures) > 1 else ""
    raise FetchError(f"{failures[0]}{more}") from failures[0]


def _unpack(file: CatalogueFile, url: str, here: Path, fresh: Path) -> None:
    """Put the files of a download into the edition's folder, once they are recognised."""
    if file.kind == "zip":
        paths = extract(here, file.members, fresh, url)
    else:
        paths = [fresh / (file.save_as or f"{file.gives[0]}.{file.kind}")]
        shutil.copyfile(here, paths[0])
    missing = set(file.gives)
    for path in paths:
        name = f"{url} ({path.name})"
        try:
            seen = recognise(path, name)
        except ManualError as error:
            if file.kind != "zip":
                path.unlink()
                raise FetchError(str(error)) from error
            seen = None
        if seen is not None and seen.source in file.gives and seen.year != file.year:
            path.unlink()
            raise FetchError(
                f"{name}: holds {seen.source}/{seen.year}, not {file.year}; check the URL"
            )
        if seen is None or seen.source not in file.gives:
            path.unlink()
            continue
        missing.discard(seen.source)
    if missing:
        raise FetchError(f"{url}: holds no {', '.join(sorted(missing))} of {file.year}")


def _holds(target: Path, files: Sequence[CatalogueFile]) -> bool:
    if not target.is_dir():
        return False
    here = {edition.name for edition in discover(target).editions}
    return {edition_name(source, file.year) for file in files for source in file.gives} <= here


def _refuse_other_files(target: Path, name: str) -> None:
    """What somebody has put where the edition would go is not overwritten."""
    if target.is_dir() and any(target.iterdir()):
        raise FetchError(
            f"{target}: holds other files than all of {name}; move them away or use --to"
        )


def _remove_empty(to: Path, *folders: Path) -> None:
    """Remove these folders, and those above them below ``to``, as far up as they are empty."""
    for folder in folders:
        while folder != to and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


def fetch_bundle(to: Path, repository: str = BUNDLE_REPOSITORY) -> Path:
    """All manuals of the benchmark from the Hugging Face hub into ``to/tam-benchmarks``.

    The hub's client resumes and verifies; ``HF_ENDPOINT`` and ``HF_HUB_OFFLINE`` have their
    usual meaning. Raises ``FetchError``.
    """
    target = to / BUNDLE
    with _working(to, BUNDLE) as work:
        if not (target.is_dir() and discover(target).editions):
            _refuse_other_files(target, BUNDLE)
            _fetch_snapshot(repository, work)
            work.rename(target)
    return target


def _fetch_snapshot(repository: str, work: Path) -> None:
    import httpx
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        snapshot_download(
            repository, repo_type="dataset", allow_patterns="manuals/*", local_dir=work
        )
    except (OSError, HfHubHTTPError, httpx.HTTPError) as error:
        if not any(_downloaded(work)):
            shutil.rmtree(work)
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise FetchError(
            f"the dataset {repository} cannot be fetched from the Hugging Face hub ({reason}); "
            f"check the network or give a folder of manuals"
        ) from error
    if not discover(work).editions:
        raise FetchError(
            f"the dataset {repository} holds no manual that we read; give a folder of manuals"
        )
    shutil.rmtree(work / ".cache", ignore_errors=True)


def _downloaded(work: Path) -> Iterator[Path]:
    """Files of the bundle that have come, whole or in part; not the client's locks and records."""
    for path in work.rglob("*"):
        if path.is_file() and (".cache" not in path.parts or path.suffix == ".incomplete"):
            yield path
