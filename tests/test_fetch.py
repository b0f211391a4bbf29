"""Fetching, against a server on this machine: resumed, verified, or a clear error."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from small_files import ERROR_PAGE, guidelines_pdf, index, table, tabular, ussg_pdf, write

from manuals.acquire import archive as archive_module
from manuals.acquire import download as download_module
from manuals.acquire.archive import extract
from manuals.acquire.catalogue import CatalogueFile, load_catalogue
from manuals.acquire.download import download
from manuals.acquire.fetch import BUNDLE, LOCK, UNFINISHED, fetch
from manuals.library.locate import locate_manuals
from tam.errors import FetchError

BODY = bytes(range(256)) * 40


@dataclass
class Site:
    """What the server answers with, and what it was asked."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    #: path -> after how many bytes the connection breaks, once for each number
    breaks: dict[str, list[int]] = field(default_factory=dict)
    etag: str = '"v1"'
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)


def handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            span = self.headers.get("Range")
            site.asked.append((self.path, span))
            if self.path in site.moved:
                self.send_response(302)
                self.send_header("Location", site.moved[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = site.files.get(self.path)
            if body is None:
                self.send_error(404)
                return
            start = 0
            if span and site.ranges and self.headers.get("If-Range") == site.etag:
                start = int(span.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(body)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            self.send_header("Content-Length", str(len(body) - start))
            if site.etag:
                self.send_header("ETag", site.etag)
            self.end_headers()
            breaks = site.breaks.get(self.path)
            end = start + breaks.pop(0) if breaks else len(body)
            self.wfile.write(body[start:end])

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site("")
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(site))
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield site
    server.shutdown()
    thread.join()
    server.server_close()


def names(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.name != LOCK
    )


# ---- one file ----


def test_a_download_is_whole_and_verified(site: Site, tmp_path: Path) -> None:
    site.files["/a"] = BODY
    target = tmp_path / "a.pdf"
    download(f"{site.url}/a", target, len(BODY), hashlib.sha256(BODY).hexdigest())
    assert target.read_bytes() == BODY
    assert names(tmp_path) == ["a.pdf"]


def test_a_broken_download_goes_on_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.files["/a"] = BODY
    site.breaks["/a"] = [3000, 2000]
    download(f"{site.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY
    assert site.asked == [("/a", None), ("/a", "bytes=3000-"), ("/a", "bytes=5000-")]


def test_what_has_come_is_kept_for_the_next_run(site: Site, tmp_path: Path) -> None:
    site.files["/a"] = BODY
    site.breaks["/a"] = [1000, 1000, 1000]
    with pytest.raises(FetchError, match=r"/a: the download broke off .* again to go on"):
        download(f"{site.url}/a", tmp_path / "a")
    assert names(tmp_path) == ["a.part", "a.part.tag"]
    download(f"{site.url}/a", tmp_path / "a")
    assert site.asked[-1] == ("/a", "bytes=3000-")
    assert (tmp_path / "a").read_bytes() == BODY


@pytest.mark.parametrize(("etag", "ranges"), [('"v2"', True), ("", True), ('"v1"', False)])
def test_another_version_is_never_added_to_the_first(
    site: Site, tmp_path: Path, etag: str, ranges: bool
) -> None:
    site.files["/a"] = BODY
    site.breaks["/a"] = [1000, 1000, 1000]
    with pytest.raises(FetchError):
        download(f"{site.url}/a", tmp_path / "a")
    site.files["/a"] = BODY[::-1]
    site.etag, site.ranges = etag, ranges
    download(f"{site.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY[::-1]


def test_without_a_validator_it_begins_anew(site: Site, tmp_path: Path) -> None:
    site.files["/a"] = BODY
    site.etag = ""
    site.breaks["/a"] = [1000]
    download(f"{site.url}/a", tmp_path / "a")
    assert site.asked == [("/a", None), ("/a", None)]
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_part_that_is_complete_is_not_fetched_again(site: Site, tmp_path: Path) -> None:
    site.files["/a"] = BODY
    write(tmp_path, {"a.part": BODY, "a.part.tag": b'"v1"'})
    download(f"{site.url}/a", tmp_path / "a")
    assert site.asked == [("/a", f"bytes={len(BODY)}-")]
    assert (tmp_path / "a").read_bytes() == BODY


@pytest.mark.parametrize(
    ("size", "sha256", "words"),
    [(5, "", f"bytes {len(BODY)} instead of 5"), (None, "0" * 64, "sha256 ")],
)
def test_wrong_bytes_are_removed(
    site: Site, tmp_path: Path, size: int | None, sha256: str, words: str
) -> None:
    site.files["/a"] = BODY
    with pytest.raises(FetchError, match=words):
        download(f"{site.url}/a", tmp_path / "a", size, sha256)
    assert names(tmp_path) == []


def test_missing_page(site: Site, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="the server answered 404 Not Found"):
        download(f"{site.url}/none", tmp_path / "a")
    assert names(tmp_path) == []


def test_nothing_can_be_reached(tmp_path: Path) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        port = server.server_port
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 cannot be reached") as raised:
        download(f"http://127.0.0.1:{port}/a", tmp_path / "a")
    assert "\n" not in str(raised.value)


def test_redirects_within_the_scheme_are_followed(site: Site, tmp_path: Path) -> None:
    site.files["/b"] = BODY
    site.moved = {"/a": "/b"}
    download(f"{site.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


@pytest.mark.parametrize(
    ("to", "words"),
    [
        ("file:///etc/passwd", "redirects to file://"),
        ("ftp://127.0.0.1/a", "redirects to ftp://"),
        ("http://manuals.invalid/a", "redirects to http://"),
        ("/a", "more than 5 redirects"),
    ],
)
def test_other_redirects_are_refused(site: Site, tmp_path: Path, to: str, words: str) -> None:
    site.moved = {"/a": to}
    with pytest.raises(FetchError, match=words):
        download(f"{site.url}/a", tmp_path / "a")
    assert names(tmp_path) == []


@pytest.mark.parametrize("url", ["http://manuals.invalid/a", "file:///etc/passwd", "ftp://x/a"])
def test_only_https(tmp_path: Path, url: str) -> None:
    with pytest.raises(FetchError, match="only https is allowed"):
        download(url, tmp_path / "a")


def test_more_than_any_manual(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download_module, "LARGEST_DOWNLOAD", 100)
    site.files["/a"] = BODY
    with pytest.raises(FetchError, match=f"{len(BODY)} bytes are more than any manual"):
        download(f"{site.url}/a", tmp_path / "a")


# ---- archives ----


def zipped(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def link() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        member = zipfile.ZipInfo("a.xml")
        member.external_attr = 0o120777 << 16
        archive.writestr(member, "/etc/passwd")
    return stream.getvalue()


def test_members_come_without_their_folders(tmp_path: Path) -> None:
    content = {"2025/in/A.XML": b"1", "b.txt": b"2", "__MACOSX/2025/A.XML": b"3", "x/": b""}
    write(tmp_path, {"z.zip": zipped(content)})
    (tmp_path / "to").mkdir()
    assert extract(tmp_path / "z.zip", ["*.xml"], tmp_path / "to") == [tmp_path / "to" / "A.XML"]
    assert names(tmp_path / "to") == ["A.XML"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped({"../a.xml": b"1"}), "leads out of the archive"),
        (zipped({"/etc/a.xml": b"1"}), "leads out of the archive"),
        (zipped({"C:\\a.xml": b"1"}), "leads out of the archive"),
        (zipped({"x\\..\\..\\a.xml": b"1"}), "leads out of the archive"),
        (link(), "is a link"),
        (zipped({"a/t.xml": b"1", "b/T.xml": b"2"}), "two members are called"),
        (zipped({"a.txt": b"1"}), "no member matches"),
        (zipped({"a.xml": b"0" * 5000}), "unpacks to more than"),
        (zipped({"a.xml": b"1" * 900, "b.xml": b"2" * 900}), "unpacks to more than"),
        (zipped({"a.xml": BODY})[:-40], "not a whole zip archive"),
        (ERROR_PAGE, "not a whole zip archive"),
    ],
)
def test_archives_that_are_refused(
    tmp_path: Path, content: bytes, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "LARGEST", 1000)
    monkeypatch.setattr(archive_module, "LARGEST_TOTAL", 1500)
    write(tmp_path, {"z.zip": content})
    (tmp_path / "to").mkdir()
    with pytest.raises(FetchError, match=words):
        extract(tmp_path / "z.zip", ["*.xml"], tmp_path / "to")
    assert [name for name in names(tmp_path) if name.endswith("passwd")] == []


def test_a_member_that_understates_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes are counted as they come: zipfile stops at a false size or its checksum fails."""
    content = bytearray(zipped({"a.xml": b"0" * 5000}))
    for at in range(len(content) - 4):
        if content[at : at + 4] == (5000).to_bytes(4, "little"):
            content[at : at + 4] = (10).to_bytes(4, "little")
    write(tmp_path, {"z.zip": bytes(content)})
    (tmp_path / "to").mkdir()
    with pytest.raises(FetchError):
        extract(tmp_path / "z.zip", ["*.xml"], tmp_path / "to")


# ---- editions ----


def ussg(site: Site, *paths: str, **more: Any) -> tuple[CatalogueFile, ...]:
    urls = tuple(site.url + path for path in paths)
    return (CatalogueFile("ussg", 2021, ("ussg",), "pdf", urls, "GLMFull.pdf", **more),)


def test_an_edition_is_fetched_once(site: Site, tmp_path: Path) -> None:
    site.files["/m.pdf"] = ussg_pdf(2021)
    catalogue = ussg(site, "/m.pdf", size=len(ussg_pdf(2021)))
    target = fetch("ussg/2021", tmp_path, catalogue)
    assert names(tmp_path) == ["ussg", "ussg/2021", "ussg/2021/GLMFull.pdf"]
    assert fetch("ussg/2021", tmp_path, catalogue) == target == tmp_path / "ussg" / "2021"
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (ERROR_PAGE, "a web page"),
        (ussg_pdf(2018), "holds ussg/2018, not 2021"),
        (guidelines_pdf(2021), "holds no ussg of 2021"),
        (b"nothing like it", "neither XML, HTML nor PDF"),
    ],
)
def test_what_is_not_the_edition_never_arrives(
    site: Site, tmp_path: Path, content: bytes, words: str
) -> None:
    site.files["/m.pdf"] = content
    with pytest.raises(FetchError, match=words):
        fetch("ussg/2021", tmp_path, ussg(site, "/m.pdf"))
    assert names(tmp_path) == []


def test_other_files_in_its_place_are_kept(site: Site, tmp_path: Path) -> None:
    write(tmp_path, {"ussg/2021/notes.txt": b"mine"})
    site.files["/m.pdf"] = ussg_pdf(2021)
    with pytest.raises(FetchError, match="holds other files than all of ussg/2021"):
        fetch("ussg/2021", tmp_path, ussg(site, "/m.pdf"))
    assert names(tmp_path) == ["ussg", "ussg/2021", "ussg/2021/notes.txt"]


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_two_processes_fetch_one_edition(site: Site, tmp_path: Path) -> None:
    site.files["/m.pdf"] = ussg_pdf(2021)
    catalogue = ussg(site, "/m.pdf")
    workers = [
        threading.Thread(target=fetch, args=("ussg/2021", tmp_path, catalogue)) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert names(tmp_path) == ["ussg", "ussg/2021", "ussg/2021/GLMFull.pdf"]
    assert len(site.asked) == 1


def test_the_second_address_serves_when_the_first_fails(site: Site, tmp_path: Path) -> None:
    site.files |= {"/page.pdf": ERROR_PAGE, "/m.pdf": ussg_pdf(2021)}
    fetch("ussg/2021", tmp_path, ussg(site, "/none.pdf", "/page.pdf", "/m.pdf"))
    assert names(tmp_path) == ["ussg", "ussg/2021", "ussg/2021/GLMFull.pdf"]


def test_the_first_failure_is_told_with_the_number_of_others(site: Site, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"/a: the server answered 404.*1 more addresses failed"):
        fetch("ussg/2021", tmp_path, ussg(site, "/a", "/b"))


def icd(site: Site) -> tuple[CatalogueFile, ...]:
    return (
        CatalogueFile("icd10cm", 2025, ("guidelines",), "pdf", (f"{site.url}/g",), "g.pdf"),
        CatalogueFile(
            "icd10cm",
            2025,
            ("tabular", "index", "eindex", "drugs", "neoplasm"),
            "zip",
            (f"{site.url}/z",),
            members=("*.xml",),
        ),
    )


TABLES = {
    "t/tabular.xml": tabular(2025),
    "t/index.xml": index(2025),
    "t/eindex.xml": index(2025, "External cause index"),
    "t/drug.xml": table(2025, "Substance"),
    "t/neoplasm.xml": table(2025, "Neoplasm"),
    "t/addenda.xml": b"<ICD10CM.addenda/>",
    "t/tabular.pdf": b"not read",
}


def test_an_archive_gives_the_members_that_are_manuals(site: Site, tmp_path: Path) -> None:
    site.files |= {"/g": guidelines_pdf(2025), "/z": zipped(TABLES)}
    target = fetch("icd10cm/2025", tmp_path, icd(site))
    assert names(target) == [
        "drug.xml",
        "eindex.xml",
        "g.pdf",
        "index.xml",
        "neoplasm.xml",
        "tabular.xml",
    ]


def test_an_edition_is_complete_or_absent(site: Site, tmp_path: Path) -> None:
    lacking = {name: content for name, content in TABLES.items() if name != "t/index.xml"}
    site.files |= {"/g": guidelines_pdf(2025), "/z": zipped(lacking)}
    with pytest.raises(FetchError, match="holds no index of 2025"):
        fetch("icd10cm/2025", tmp_path, icd(site))
    assert names(tmp_path) == [
        UNFINISHED,
        f"{UNFINISHED}/icd10cm-2025",
        f"{UNFINISHED}/icd10cm-2025/0-0.pdf",
    ]
    site.files["/z"] = zipped(TABLES)
    fetch("icd10cm/2025", tmp_path, icd(site))
    assert [path for path, _ in site.asked] == ["/g", "/z", "/z"]  # the guidelines were kept
    assert not (tmp_path / UNFINISHED).exists()


# ---- the catalogue and the bundle ----


def test_the_catalogue() -> None:
    files = load_catalogue()
    assert {file.corpus for file in files} == {"icd10cm", "title18", "ussg"}
    for file in files:
        assert all(url.startswith("https://") and "{" not in url for url in file.urls)
        assert (file.kind == "zip") == bool(file.members)
        assert len(file.sha256) in (0, 64)
    by_name = {(file.edition, file.gives): file for file in files}
    assert by_name["ussg/2025", ("ussg",)].size == 3501303


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ussg/2022", "the one of 2021 stayed in force; fetch ussg/2021"),
        ("ussg/1901", "ussg has 2015, 2016"),
        ("title18/1900", "title18 has 2018, "),
        ("bible/1611", "give one of icd10cm, title18, ussg"),
    ],
)
def test_names_that_the_catalogue_lacks(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(FetchError, match=words):
        fetch(name, tmp_path)


@pytest.mark.parametrize("text", ["[[file]]\ncorpus = 1\n", "not toml", '[known]\n"a" = 1\n'])
def test_a_catalogue_that_is_wrong(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(FetchError, match=r"c\.toml: not a catalogue"):
        load_catalogue(tmp_path / "c.toml")


def hub(files: dict[str, bytes] | None) -> Any:
    """A stand-in for the hub's client that serves ``files``, or cannot be reached."""

    def snapshot_download(repository: str, *, local_dir: Path, **options: Any) -> str:
        assert repository == "manulife/tam-benchmarks"
        assert options == {"repo_type": "dataset", "allow_patterns": "manuals/*"}
        (Path(local_dir) / ".cache").mkdir()
        if files is None:
            raise LocalEntryNotFoundError("the hub is away\nmore lines")
        write(Path(local_dir), files)
        return str(local_dir)

    return snapshot_download


def test_the_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = {"manuals/icd/2019/t.xml": tabular(2019), "manuals/ussg/2021/G.pdf": ussg_pdf(2021)}
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub(content))
    located = locate_manuals(data=tmp_path / "data", sample=tmp_path / "sample")
    assert located.folder == tmp_path / "data"
    assert not located.is_sample
    assert [n for n in names(tmp_path) if n.endswith((".xml", ".pdf"))] == [
        f"data/{BUNDLE}/manuals/icd/2019/t.xml",
        f"data/{BUNDLE}/manuals/ussg/2021/G.pdf",
    ]
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub(None))
    assert locate_manuals(data=tmp_path / "data").folder == tmp_path / "data"


def test_a_bundle_without_manuals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub({"manuals/a.txt": b"no"}))
    with pytest.raises(FetchError, match="holds no manual"):
        fetch(BUNDLE, tmp_path)
    assert not (tmp_path / BUNDLE).exists()


def test_the_sample_when_nothing_can_be_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub(None))
    located = locate_manuals(data=tmp_path / "data", sample=tmp_path / "sample")
    assert located.is_sample
    assert located.folder == tmp_path / "sample"
    assert "SAMPLE" in located.note
    assert "cannot be fetched" in located.note
    assert "\n" not in located.note
    assert names(tmp_path) in ([], ["data"])


def test_what_is_given_is_taken(tmp_path: Path) -> None:
    located = locate_manuals(tmp_path)
    assert (located.folder, located.is_sample, located.note) == (tmp_path, False, "")


def test_offline_asks_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*args: Any, **options: Any) -> None:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", never)
    assert locate_manuals(offline=True, data=tmp_path / "data").is_sample
