"""The command ``tam``: each command is a thin wrapper over the Python API, loaded on use."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from tam._version import __version__
from tam.errors import TamError

# command -> (module that defines it, attribute, one line for the overview)
COMMANDS: dict[str, tuple[str, str, str]] = {
    "manuals": ("tam.cli.manuals", "manuals", "Find, fetch and check the official manuals."),
    "open": ("tam.cli.sections", "open_section", "Print one section of one edition."),
    "diff": ("tam.cli.sections", "diff", "Show what changed in a section between two editions."),
    "chunk": ("tam.cli.chunk", "chunk", "Cut manuals into chunks; report the counts."),
    "build": ("tam.cli.build", "build", "Build the indexes from a folder of manuals."),
    "verify": ("tam.cli.build", "verify", "Check an index folder."),
    "search": ("tam.cli.search", "search", "Search the built indexes."),
    "case": ("tam.cli.case", "case", "Find what a whole case needs, step by step."),
    "serve": ("tam.cli.serve", "serve", "Answer searches over HTTP on this machine."),
    "queries": ("tam.cli.queries", "queries", "Make known-item query sets from the manuals."),
    "eval": ("tam.cli.evaluate", "evaluate", "Measure the recall of gold sections."),
    "ablate": ("tam.cli.ablate", "ablate", "Run an ablation study."),
    "tool": ("tam.cli.tools", "tool", "Call one browsing or retrieval tool."),
    "run": ("tam.cli.runs", "run_system", "Run one of the benchmark's systems end to end."),
    "score": ("tam.cli.runs", "score", "Score end-to-end runs."),
}


class _ReaderGone(Exception):
    """The reader of the output went away: ``tam search ... | head``."""


class Commands(click.Group):
    """A group that imports a command's module only when that command is called."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGone from error  # click itself would exit with 1

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[name]
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{module}.{attribute} is not a command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tam")
def main() -> None:
    """Retrieval over application manuals, by edition.

    ICD-10-CM (Guidelines, Tabular List, Index), Title 18 and the Sentencing Guidelines.
    """


def run(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 2 a mistake in the input, 3 a run that its budget
    ended, 130 interrupted; 1 for a tool's error value."""
    # Idle threads of a numeric library that spin slow down every other process on the machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    try:
        code = main.main(
            args=None if argv is None else list(argv), prog_name="tam", standalone_mode=False
        )
    except click.exceptions.Abort:
        print("tam: interrupted", file=sys.stderr)
        code = 130
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = 2
    except click.ClickException as error:
        print(_usage_line(error), file=sys.stderr)
        code = 2
    except TamError as error:
        print(f"tam: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("tam: interrupted", file=sys.stderr)
        code = 130
    except (_ReaderGone, BrokenPipeError):  # not an error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except OSError as error:
        # What a command does not foresee itself: a full disk, a file taken away while in use.
        place = f"{error.filename}: " if error.filename else ""
        reason = error.strerror or type(error).__name__
        print(f"tam: {place}{reason}; check the place, its permissions and space", file=sys.stderr)
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _usage_line(error: click.ClickException) -> str:
    """A mistake in the words of a command as one line, like every other mistake."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    command = context.command_path if context else "tam"
    message = " ".join(error.format_message().split()).rstrip(".")
    return f"tam: {message}; see  {command} --help"
