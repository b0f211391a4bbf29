"""Measuring retrieval: golds, cases, query sets, measures, runs, significance."""
