"""Domains: kinds of cases, each with its answers, golds, tools, prompts and scores.

In: case files and manuals. Out: one registered ``Domain`` each, which studies and runs ask.
"""
