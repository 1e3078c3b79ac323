"""What the tests of the whole take of this study."""

OTHER_CALLS = {"Meter": "takes embeddings", "PairMeter": "takes batches of pairs"}
