"""Running a study.

In: cells. Out: measured cells.
"""
