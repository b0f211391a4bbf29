"""Known-item query sets that the manuals themselves provide, by source.

In: a library of editions. Out: queries, and the sections that each is to find.
"""
