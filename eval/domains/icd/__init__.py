"""ICD-10-CM coding of discharge notes.

In: notes with their codes. Out: the domain ``icd``.
"""
