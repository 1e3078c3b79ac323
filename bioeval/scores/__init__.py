"""What was compared with what: scores, labels, embeddings, blocks of rows, and their files."""
