"""Chunk rules of Title 18, by preset.

In: a parsed manual. Out: pieces.
"""
