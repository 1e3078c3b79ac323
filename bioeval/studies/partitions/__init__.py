"""Many partitions of one matrix in one call, and the cards that divide the data."""
