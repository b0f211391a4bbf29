"""Pointers: the places that each section says to go next, by the rules of its source.

In: a parsed edition, and the other manuals of its index. Out: ``Pointer`` records.
"""
