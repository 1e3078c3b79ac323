"""The tables of every result: what is shown of it, printed, for a paper, and as data."""
