"""Tables in plain text."""

from __future__ import annotations

from collections.abc import Sequence


def columns(lines: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Lines of cells as a table, two blanks between the columns, those of ``right`` flush right."""
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    shown = []
    for line in lines:
        cells = [
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        shown.append("  ".join(cells).rstrip())
    return "\n".join(shown)
