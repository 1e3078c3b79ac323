"""Comparisons and their data: scores, labels, embeddings, blocks of rows, and their files."""
