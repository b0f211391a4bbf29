"""Reports of evaluations.

In: an evaluation. Out: tables, files, pages.
"""
