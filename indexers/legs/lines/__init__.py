"""Lines of chunks: a chunk scores by its best one.

In: the lines of each chunk. Out: n-grams and vectors of each; ranked rows.
"""
