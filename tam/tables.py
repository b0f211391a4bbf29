"""Tables as text, Markdown and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Literal

Style = Literal["plain", "pipe", "latex_raw"]
_RULES = ("\\toprule", "\\midrule", "\\bottomrule")


def columns(
    lines: Sequence[Sequence[str]], right: Collection[int] = (), style: Style = "plain"
) -> str:
    """Lines of cells, the head first, as a table; the columns of ``right`` are flush right.

    ``plain`` has two blanks between the columns; ``pipe`` is Markdown and ``latex_raw`` a
    ``tabular`` for the package booktabs, both with cells that are escaped already.
    """
    from tabulate import tabulate

    head, *rows = lines
    sides = ["right" if at in right else "left" for at in range(len(head))]
    text: str = tabulate(
        lines if style == "plain" else rows,
        headers=() if style == "plain" else head,
        tablefmt=style,
        colalign=sides,
        headersglobalalign=None,
        disable_numparse=True,
        preserve_whitespace=True,
    )
    if style == "plain":
        return "\n".join(map(str.rstrip, text.splitlines()))
    # Without padding, so that one long cell does not change every line.
    text = re.sub(r"(?<=[|&]) +| +(?=[|&]|\\\\$)", " ", text, flags=re.MULTILINE)
    text = re.sub(r"^ +|(?<=---)-+", "", text, flags=re.MULTILINE)
    for rule in _RULES:
        text = text.replace("\\hline", rule, 1)
    return text
