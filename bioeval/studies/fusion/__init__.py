"""Fusion and normalisation of the scores of several systems."""
