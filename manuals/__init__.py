"""The official manuals, by edition.

In: the publishers' files. Out: editions parsed into sections with keys, spans and years.
"""
