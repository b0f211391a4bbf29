"""Chunk rules of the Guidelines Manual, by preset.

In: a parsed manual. Out: pieces.
"""
