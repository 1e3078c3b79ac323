"""Results as one self-contained HTML page: numbers, curves, tables, and a threshold to move."""
