"""Golds: the sections that a query needs.

In: queries and manuals. Out: golds, and the chunks that cover them.
"""
