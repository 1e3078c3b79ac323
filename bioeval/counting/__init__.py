"""Counting: blocks of attempts, the one loop over them, and the reducers that sum them up."""
