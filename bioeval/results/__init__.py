"""Counts into labelled rates, one file for each task; no result reads a score matrix."""
