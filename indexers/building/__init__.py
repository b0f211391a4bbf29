"""Building an index.

In: a library and settings. Out: index folders, complete or absent.
"""
