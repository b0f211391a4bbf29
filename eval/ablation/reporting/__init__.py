"""What a study found.

In: measured cells. Out: tables, figures, pages.
"""
