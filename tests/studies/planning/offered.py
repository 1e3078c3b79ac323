"""What the tests of the whole take of this study."""

OTHER_CALLS = {"sample_size": "takes rates", "workload": "takes rates"}
