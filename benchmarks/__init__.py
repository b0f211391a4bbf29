"""Speeds beside the well-known libraries.

In: real manuals. Out: a table of timings.
"""
