"""Applying ICD-10-CM: people's words and, where there is one, the procedure.

In: an edition and a note. Out: names of its units, steps of its plan.
"""
