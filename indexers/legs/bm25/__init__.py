"""BM25 over the terms of chunks, and rank_bm25 over the same terms.

In: texts. Out: a matrix of scores; ranked rows.
"""
