"""Two systems or more on the same data, with intervals of their differences."""
