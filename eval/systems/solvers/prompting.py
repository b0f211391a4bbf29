"""The prompts: Jinja2 files, the systems' here, the domain's in its own folder.

A system's prompt includes ``domain/rules.j2`` (the task), ``domain/answer.j2`` (its form),
``domain/words.j2`` and ``domain/browsing.j2``; what a domain's folder lacks is in ``defaults``. A
domain's ``skills/<stage>/SKILL.md`` are for the harness. A run records the hash of each file.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tam.errors import MissingExtra
from tam.files import sha256_file

if TYPE_CHECKING:
    from eval.domains.model import Domain

FOLDER = Path(__file__).parent / "prompts"


@lru_cache(maxsize=16)
def _environment(domain_folder: Path | None) -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise MissingExtra("jinja2", "llm", "an end-to-end run") from error
    folders = (
        [FOLDER / "defaults"] if domain_folder is None else [domain_folder, FOLDER / "defaults"]
    )
    own = jinja2.PrefixLoader({"domain": jinja2.FileSystemLoader(folders)})
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([own, jinja2.FileSystemLoader(FOLDER)]),
        undefined=jinja2.StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )


def render(domain: Domain, name: str, **values: Any) -> str:
    """The prompt ``name`` for a domain. A value that is missing is a fault of ours."""
    template = _environment(domain.prompts).get_template(f"{name}.j2")
    text: str = template.render(domain=domain.name, **values)
    return text.strip()


def skill_files(domain: Domain) -> dict[str, Path]:
    """The domain's skills by the path under which a worker reads them."""
    folder = (domain.prompts or FOLDER) / "skills"
    return {
        f"/skills/{domain.name}/{path.relative_to(folder).as_posix()}": path
        for path in sorted(folder.rglob("*.md"))
    }


def prompt_hashes(domain: Domain) -> dict[str, str]:
    """The sha256 of each prompt and skill file that a run over the domain can use, by its path."""
    folders = {"": FOLDER} | ({f"{domain.name}/": domain.prompts} if domain.prompts else {})
    return {
        prefix + path.relative_to(folder).as_posix(): sha256_file(path)
        for prefix, folder in folders.items()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
