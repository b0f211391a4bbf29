"""The benchmark's systems end to end: tools, models, runs and scores."""
