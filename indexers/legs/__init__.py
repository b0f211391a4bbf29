"""What legs keep on disk and score with.

In: texts. Out: scores by row.
"""
