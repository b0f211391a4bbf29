"""PDF files as lines with their fonts and places.

In: a PDF. Out: lines, and a text without page furniture beside the page-wise one.
"""
