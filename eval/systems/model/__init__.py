"""The model of a run: calls, budget, rate limit, privacy.

In: settings. Out: a metered chat model.
"""
