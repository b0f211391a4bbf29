"""Offense levels under the Sentencing Guidelines.

In: facts with their level. Out: the domain ``legal``.
"""
