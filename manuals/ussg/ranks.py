"""Ranks of the Guidelines Manual's sections, the outermost first.

Subsections of a guideline stand at ``DIVISION`` and deeper, like its subheadings.
"""

from __future__ import annotations

CHAPTER, PART, SUBPART, HEADING, GUIDELINE, DIVISION, NOTE = range(7)
