"""Legs over what sections are called.

In: the names of every unit (title, headings above, inclusion terms, entries that lead there).
Out: rows ranked by the best name of the unit that they begin.
"""
