"""Common to all layers: errors, result variables, argument checks, random numbers."""
