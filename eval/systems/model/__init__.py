"""The model of a run: calls, budget, pace, privacy.

In: settings. Out: a metered chat model.
"""
