"""What a study varies.

In: a study's file. Out: its cells.
"""
