"""Numbers of embeddings or pairs that come batch by batch, as in a training loop."""
