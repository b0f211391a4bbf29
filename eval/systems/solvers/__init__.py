"""The systems.

In: a case. Out: an answer.
"""
