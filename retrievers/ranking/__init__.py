"""Rankings of rows and what is done with them.

In: a query and allowed rows. Out: ranked rows.
"""
