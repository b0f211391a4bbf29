"""ICD-10-CM: Tabular List, the index-like files, and the Official Guidelines.

In: official XML and PDF. Out: parsed editions, codes with all that they inherit.
"""
