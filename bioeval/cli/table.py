"""The commands under the headings of ``bioeval --help``: what each does, and where it is."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A command: the line of the help, and its function, which is imported when it is called."""

    does: str
    function: str


HEADINGS: dict[str, dict[str, Entry]] = {
    "Start": {
        "example": Entry(
            "Write scores of real faces that come with bioeval.",
            "bioeval.cli.commands.example:command",
        ),
        "check": Entry(
            "Check data before an evaluation: labels, copies, failures.",
            "bioeval.cli.commands.check:command",
        ),
        "run": Entry("Evaluate scores or embeddings.", "bioeval.cli.commands.run:command"),
        "report": Entry(
            "Write an HTML page with curves and a movable threshold.",
            "bioeval.cli.commands.report:command",
        ),
    },
    "Decide": {
        "threshold": Entry(
            "Choose a threshold, with the FAR and FRR to expect of it.",
            "bioeval.cli.commands.threshold:command",
        ),
        "compare": Entry(
            "Compare or rank systems on the same data.", "bioeval.cli.commands.compare:command"
        ),
        "calibration": Entry(
            "Evaluate log-likelihood ratios: Cllr, costs by prior.",
            "bioeval.cli.commands.calibration:command",
        ),
        "fuse": Entry(
            "Fuse systems, and evaluate them with the fused system.",
            "bioeval.cli.commands.fuse:command",
        ),
        "normalise": Entry(
            "Normalise the scores of trials by a cohort.", "bioeval.cli.commands.normalise:command"
        ),
    },
    "Look into": {
        "explain": Entry(
            "Explain which counters each comparison of a row adds to.",
            "bioeval.cli.commands.explain:command",
        ),
        "zoo": Entry(
            "Evaluate each subject; test for goats, wolves and lambs.",
            "bioeval.cli.commands.zoo:command",
        ),
        "groups": Entry(
            "Evaluate verification by demographic group.", "bioeval.cli.commands.groups:command"
        ),
        "error-discard": Entry(
            "Evaluate errors when samples of low quality are discarded.",
            "bioeval.cli.commands.error_discard:command",
        ),
        "gallery-size": Entry(
            "Evaluate identification by number of enrolled subjects.",
            "bioeval.cli.commands.gallery_size:gallery_size_command",
        ),
        "conventions": Entry(
            "Evaluate by every protocol card that fits, one row each.",
            "bioeval.cli.commands.conventions:command",
        ),
    },
    "Attacks": {
        "vulnerability": Entry(
            "Evaluate how often presentation attacks are accepted.",
            "bioeval.cli.commands.attacks:vulnerability_command",
        ),
        "pad": Entry(
            "Evaluate presentation attack detection: APCER, BPCER.",
            "bioeval.cli.commands.attacks:pad_command",
        ),
    },
    "Plan": {
        "workload": Entry(
            "Estimate false alarms and rejected people per day.",
            "bioeval.cli.commands.planning:workload_command",
        ),
        "sample-size": Entry(
            "Find how many subjects and templates a test needs.",
            "bioeval.cli.commands.planning:sample_size_command",
        ),
    },
    "Re-identification and tracking": {
        "gom": Entry(
            "Compare systems of open-world re-identification by GOM.",
            "bioeval.cli.commands.gom:command",
        ),
        "tracking": Entry(
            "Evaluate or compare trackers: CLEAR MOT, IDF1, HOTA.",
            "bioeval.cli.commands.tracking:command",
        ),
    },
    "Data and cards": {
        "simulate": Entry(
            "Simulate scores of a population with known truth.",
            "bioeval.cli.commands.simulate:command",
        ),
        "convert": Entry(
            "Convert a file to another format.", "bioeval.cli.commands.convert:command"
        ),
        "protocols": Entry(
            "List, explain and check protocol cards.", "bioeval.cli.commands.protocols:command"
        ),
        "info": Entry(
            "Print versions, for a report of a fault.", "bioeval.cli.commands.info:command"
        ),
    },
}

COMMANDS = {name: entry for commands in HEADINGS.values() for name, entry in commands.items()}
