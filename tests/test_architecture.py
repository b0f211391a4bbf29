"""The rules of the code base: stages, circles, sizes of folders, plug-ins by name, commands told."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest

from eval.domains.model import DOMAINS
from tam.cli import COMMANDS, main
from tam.errors import DISTRIBUTION, install_hint

ROOT = Path(__file__).resolve().parents[1]
while not (ROOT / "pyproject.toml").is_file():
    ROOT = ROOT.parent
STAGES = ("manuals", "chunkers", "indexers", "retrievers", "eval")
PACKAGES = (*STAGES, "tam", "benchmarks")
#: modules of a folder, at most; `__init__`, `__main__` and `_version` are not counted
MOST = 12
#: what may import any stage: the public names, and the commands
OVER_ALL = ("tam", "tam.cli", "tam.__main__")
#: groups of plug-ins whose names stand in their own folders only; words of the language are left out
GROUPS = ("tam.sources", "tam.domains", "tam.legs", "tam.systems")
WORDS = frozenset({"index", "lines"})


@cache
def modules() -> dict[str, Path]:
    """Every module of the packages by its dotted name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def named(node: ast.stmt | ast.expr) -> Iterator[str]:
    """The modules of ours that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in modules())
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            below = f"{node.module}.{alias.name}"
            target = below if below in modules() else node.module
            if target in modules():
                yield target


def imports(module: str, inside_functions: bool) -> set[str]:
    """What a module imports, below ``if TYPE_CHECKING`` too; inside functions only when asked."""
    found: set[str] = set()

    def walk(nodes: list[ast.stmt]) -> None:
        for node in nodes:
            found.update(named(node))
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and not inside_functions:
                continue
            for name in ("body", "orelse", "finalbody"):
                walk(getattr(node, name, []))
            for handler in getattr(node, "handlers", []):
                walk(handler.body)

    walk(tree(module).body)
    return found - {module}


def test_a_stage_imports_only_stages_to_its_left() -> None:
    wrong = []
    for module in modules():
        stage = module.split(".")[0]
        if stage == "benchmarks" or module in OVER_ALL or module.startswith("tam.cli."):
            continue
        left = STAGES[: STAGES.index(stage) + 1] if stage in STAGES else ()
        for target in imports(module, inside_functions=True):
            top = target.split(".")[0]
            if target == "tam.cli" or target.startswith("tam.cli.") or top not in (*left, "tam"):
                wrong.append(f"{module} imports {target}")
    assert not wrong


def test_no_circle_of_imports() -> None:
    """Those for type checkers alone count, those inside functions do not."""
    graph = {module: imports(module, inside_functions=False) for module in modules()}
    graph["tam"] = imports("tam", inside_functions=False) & {"tam._version", "tam.errors"}
    state: dict[str, int] = {}
    circles: list[str] = []

    def visit(module: str, path: tuple[str, ...]) -> None:
        state[module] = 1
        for target in sorted(graph[module]):
            if state.get(target) == 1:
                circles.append(" -> ".join((*path[path.index(target) :], target)))
            elif target not in state:
                visit(target, (*path, target))
        state[module] = 2

    for module in sorted(graph):
        if module not in state:
            visit(module, (module,))
    assert not circles


def folders() -> list[Path]:
    return sorted({path.parent for path in modules().values()})


def test_a_folder_has_about_ten_modules() -> None:
    many = {}
    for folder in folders():
        count = sum(not path.name.startswith("_") for path in folder.glob("*.py"))
        # One thin module for each command is easier to find than a tree of them.
        if count > MOST and folder.name != "cli":
            many[folder.relative_to(ROOT).as_posix()] = count
    assert not many


def test_each_package_says_what_comes_in_and_goes_out() -> None:
    silent = []
    for folder in folders():
        path = folder / "__init__.py"
        told = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if "In:" not in told or "Out:" not in told:
            silent.append(path.relative_to(ROOT).as_posix())
    # The thin package, its commands and the bench have no flow of their own.
    assert set(silent) <= {"tam/__init__.py", "tam/cli/__init__.py", "benchmarks/__init__.py"}


def plugin_folders() -> dict[str, set[Path]]:
    """Name of each built-in plug-in -> the folders of the modules that register it."""
    found: dict[str, set[Path]] = {}
    for group in GROUPS:
        for point in entry_points(group=group):
            if point.module in modules():
                found.setdefault(point.name, set()).add(modules()[point.module].parent)
    # A module or folder of another stage that bears the name of a plug-in's room belongs to it.
    for name, folders in found.items():
        rooms = {folder.name for folder in folders}
        found[name] = folders | {
            path for path in modules().values() if path.stem in rooms or path.parent.name in rooms
        }
    # A domain's room knows the sources that its cases are answered from.
    for domain in DOMAINS.values():
        for source in domain.sources:
            found.setdefault(source, set()).update(found.get(domain.name, ()))
    return found


def compared(module: str) -> Iterator[tuple[int, str]]:
    """Texts that stand in a comparison, a ``match`` or as a key of a ``dict``, with their lines."""
    for node in ast.walk(tree(module)):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Dict):
            parts = list(node.keys)
        for part in parts:
            for each in ast.walk(part) if part is not None else ():
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.lineno, each.value


def test_no_plugin_is_known_by_name_outside_its_folder() -> None:
    plugins = {name: at for name, at in plugin_folders().items() if name not in WORDS}
    # The bench measures legs by name.
    wrong = [
        f"{modules()[module].relative_to(ROOT)}:{line}: {text!r}"
        for module, path in modules().items()
        if not module.startswith("benchmarks")
        for line, text in compared(module)
        if text in plugins and not any(path.is_relative_to(folder) for folder in plugins[text])
    ]
    assert not wrong


def commands(group: click.Group, *above: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*above, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)


def test_every_command_is_documented() -> None:
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(path.read_text(encoding="utf-8") for path in documents)
    assert COMMANDS
    said = {" ".join(("tam", *words)): command for words, command in commands(main)}
    assert [name for name, command in said.items() if not command.help] == []
    assert [name for name in said if name not in text] == []


@pytest.mark.parametrize("extra", ["llm", "eval"])
def test_what_installs_an_extra(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert install_hint(extra) == f".venv/bin/pip install -e '.[{extra}]'"
    monkeypatch.setattr("tam.errors.__file__", "/site-packages/tam/errors.py")
    assert install_hint(extra) == f"pip install '{DISTRIBUTION}[{extra}]'"
    assert f'name = "{DISTRIBUTION}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_no_text_says_to_install_another_project() -> None:
    """The name tam is another project's on the package index."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    taken = re.compile(r"pip install ['\"]?tam\b(?!-)|\btam\[(?:llm|eval|mcp|static|dev)")
    for name in listed.stdout.split("\0"):
        path = ROOT / name
        if (
            name.endswith((".py", ".md", ".toml", ".j2", ".txt", "Makefile", "run"))
            and path.is_file()
        ):
            found = taken.search(path.read_text(encoding="utf-8"))
            assert found is None or path == Path(__file__).resolve(), (
                f"{name}: {found and found[0]}"
            )
