"""Cross-evaluation: thresholds are chosen on one part of the data and judged on another."""
