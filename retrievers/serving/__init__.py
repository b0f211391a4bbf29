"""Answers as JSON values over HTTP and MCP.

In: requests. Out: JSON.
"""
