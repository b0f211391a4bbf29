"""Queries into ranked chunks: ``open_index(folder).search(query, year=2025)``."""
