"""Expected performance: errors on one set at thresholds of another."""
