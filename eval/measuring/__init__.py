"""Measures over rankings and golds.

In: runs and golds. Out: values, intervals, tests.
"""
