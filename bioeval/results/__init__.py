"""Tallies into labelled rates: a file a task. Nothing here has ever seen a score matrix."""
