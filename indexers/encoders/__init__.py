"""Encoders of texts, the windows they read and the cache of their vectors.

In: texts. Out: unit vectors.
"""
