"""Runs: from options to a folder of results.

In: options and cases. Out: a run folder.
"""
