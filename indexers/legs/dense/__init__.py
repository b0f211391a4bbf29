"""Vectors of windows of the chunks.

In: chunks, an encoder. Out: a FAISS file; ranked rows.
"""
