"""Cases of this study for tests of all studies."""

OTHER_CALLS = {"sample_size": "takes rates", "workload": "takes rates"}
