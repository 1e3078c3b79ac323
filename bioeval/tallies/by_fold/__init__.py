"""Verification in folds: every pair is counted by the folds of its two templates.

With a table over (fold of probe, fold of gallery template) the test part of fold ``k`` is the
entry ``(k, k)``, and its training part the sum of all entries with neither side in ``k``; pairs
across the two are used by neither. So one pass over the scores counts every fold, and a second
one collects the scores of the few bins in which thresholds fall.
"""
