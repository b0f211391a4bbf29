"""Ablation studies: a file of axes to cells, their results, tables, figures and a report."""
