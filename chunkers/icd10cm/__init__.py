"""Chunk rules of the ICD-10-CM manuals, by preset.

In: a parsed manual. Out: pieces.
"""
