"""``python -m tam`` is the command ``tam``."""

from tam.cli import run

run()
