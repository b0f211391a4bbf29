"""Legs: each ranks the rows of an index for a query by scores of its own.

In: chunks, an encoder. Out: parts of an index folder, and rankers over them.
"""
