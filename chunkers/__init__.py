"""Sections cut into chunks.

In: parsed editions. Out: chunks by the rules of a preset, and the report of their counts.
"""
