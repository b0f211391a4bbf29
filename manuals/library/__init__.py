"""A folder of official files as a library of editions.

In: a folder. Out: parsed editions, sections by reference, differences between editions.
"""
