"""Scores of runs.

In: run folders. Out: tables and pages.
"""
