"""One row of a matrix, comparison by comparison."""
