"""Chunks into indexes: BM25 terms, dense vectors, and the folders that hold them."""
