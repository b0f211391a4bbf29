"""Measurements.

In: an index or a system, cases with golds. Out: runs, measures, intervals, studies and reports.
"""
