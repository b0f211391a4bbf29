"""Tools that a model calls to read the manuals.

In: arguments. Out: text, and the sections that it shows.
"""
