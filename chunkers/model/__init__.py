"""What all chunk rules share.

In: a parsed manual and a preset. Out: chunks, their counts, and files of them.
"""
