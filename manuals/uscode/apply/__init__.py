"""Applying the United States Code: people's words and, where there is one, the procedure.

In: an edition and a section. Out: names of its units, steps of its plan.
"""
