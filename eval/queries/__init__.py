"""Queries: case files, query sets, known items, runs in and out.

In: files and manuals. Out: queries with their editions.
"""
