"""Searches.

In: an index, a query, a filter. Out: ranked chunks, over Python, HTTP and MCP.
"""
