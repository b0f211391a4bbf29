"""A whole case, searched by the manual's own procedure.

In: the text of a case. Out: sections grouped by the steps that call for them.
"""
