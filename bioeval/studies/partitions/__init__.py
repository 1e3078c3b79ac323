"""Many partitions of one matrix, and the cards that divide the data."""
