"""Evaluations as lists of blocks of rows: on a cluster, and from a checkpoint."""
