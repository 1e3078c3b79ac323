"""A FAR that is kept, with a stated confidence, by people like those of the data."""
