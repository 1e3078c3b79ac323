"""What the tests of the whole take of this study."""

OTHER_CALLS = {
    "plan_run": "describes a file",
    "sample_size": "takes rates",
    "workload": "takes rates",
}
