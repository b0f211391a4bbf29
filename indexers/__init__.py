"""Chunks made searchable.

In: chunks and settings. Out: an index folder, and the legs opened from it.
"""
