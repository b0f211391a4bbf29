"""Applying the Guidelines Manual: people's words and, where there is one, the procedure.

In: an edition and a case. Out: names of its units, steps of its plan.
"""
