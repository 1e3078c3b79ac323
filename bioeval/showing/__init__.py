"""Results as one tidy data frame, a row for each number."""
