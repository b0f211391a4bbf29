"""The benchmark's systems end to end.

In: cases, tools over an index, a model. Out: answers, journals and scores.
"""
