"""Ablation studies.

In: a study's file. Out: measured cells, tables, figures and a report.
"""
