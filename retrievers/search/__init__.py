"""A search: what is asked, where, stage by stage, and the hits.

In: a query and settings. Out: hits.
"""
