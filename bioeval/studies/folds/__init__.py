"""Folds and repeated partitions: thresholds are chosen and judged on different data."""
