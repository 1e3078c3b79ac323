"""Re-identification from scores to tallies: what queries see, and where their matches stand."""
