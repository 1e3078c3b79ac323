"""Means over many evaluations of index sets, counted together."""
