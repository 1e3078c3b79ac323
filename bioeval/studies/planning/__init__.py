"""Before an evaluation: its size, its cost, and the daily work that its rates mean."""
