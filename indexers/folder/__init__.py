"""An index folder: its parts, its manifest, its checks.

In: a path. Out: an opened index.
"""
