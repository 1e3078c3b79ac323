"""Messages of the library in the words of the command line: options, not arguments of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bioeval.scores.formats.options import FLAGS

#: What an argument is called on the command line, for each command.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "run": {
        **FLAGS,
        "thresholds": "--thresholds",
        "max_rank": "--max-rank",
        "far_targets": "--far",
        "interval": "--interval",
        "confidence": "--confidence",
        "replicates": "--replicates",
        "random_state": "--seed",
        "per_query": "--per-query",
    },
    "tracking": {
        name: f"--{name.replace('_', '-')}"
        for name in (
            *("iou", "frames", "pairing", "mostly_tracked", "ignored", "duplicates", "parts"),
            "columns",
        )
    },
    "compare": {
        **FLAGS,
        "templates": "--templates",
        "far_targets": "--far",
        "confidence": "--confidence",
        "replicates": "--replicates",
        "random_state": "--seed",
    },
    "convert": {**FLAGS},
    "gallery-size": {
        **FLAGS,
        "sizes": "--sizes",
        "thresholds": "--thresholds",
        "max_rank": "--max-rank",
        "ties": "--ties",
        "impostors": "--impostors",
    },
    "threshold": {
        **FLAGS,
        **{name: f"--{name}" for name in ("target", "folds", "repeats", "templates", "fusion")},
        "confidence": "--confidence",
        "replicates": "--replicates",
        "random_state": "--seed",
    },
    "simulate": {
        **{
            name: f"--{name.replace('_', '-')}"
            for name in (
                *("subjects", "templates", "model", "layout", "probes", "unenrolled", "kind"),
                *("dimensions", "between", "within", "metric", "sessions", "session_sd"),
                *("cameras", "camera_sd", "d_prime", "genuine_sd"),
            )
        },
        "random_state": "--seed",
    },
}

#: Options that only a protocol card has.
OF_A_CARD = ("ties", "impostors", "rank_unit", "fusion", "unmated", "unenrolled_claims")

#: What the library says in the terms of Python, and how a command says it.
_AS_TYPED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "threshold": (
        (r' \(or a tuple: \("far", 0\.001\)\)', ", such as far=0.001"),
        (r"^(RepeatedS\w+KFold): n_splits is", r"\1: --folds is"),
        (r"^(RepeatedSampleKFold: .*\bonly (?:one|[\d,]+)) sample", r"\1 pair"),  # what it divides
        (r"^RepeatedS\w+KFold: ", ""),
    ),
}

# Names of arrays in a file may well be those of arguments, and are left as they are.
_CONTENTS = "It holds: "


def rewording(command: str) -> Callable[[str], str]:
    """Return what turns a message into the words of a command's options.

    Examples
    --------
    >>> rewording("run")('give max_rank, or nan="reject"')
    'give --max-rank, or --nan reject'
    """
    options = OPTIONS.get(command, {})
    if not options:
        return str
    names = "|".join(sorted(options, key=len, reverse=True))
    long_names = "|".join(name for name in options if "_" in name)
    forms = re.compile(
        # Both ways, as the readers of files say it: labels_key='id' (--labels id)
        r"\b\w+=(?:'[^']*')? \((?P<both>--[^()]+)\)"
        # An argument with its value, of the command or of a protocol card
        rf"|\b(?P<name>{names})=(?P<quote>['\"])(?P<value>[^'\"]*)(?P=quote)"
        rf"|\b(?P<key>{'|'.join(OF_A_CARD)})=(?P<mark>['\"])(?P<word>[^'\"]*)(?P=mark)"
        # What the message is about
        rf"|^(?P<subject>{names})(?= (?:is|has|do)\b| = |\[)"
        # A name that is no common word, unless it may be one of an array or of a file
        rf"|(?<![\w./'\"=-])(?P<alone>{long_names})(?![\w/'\"=:(-]|\.\w)"
    )

    def option(found: re.Match[str]) -> str:
        if found["both"]:
            return found["both"]
        if found["name"]:
            return f"{options[found['name']]} {found['value']}"
        if found["key"]:
            return f'{found["key"]} = "{found["word"]}" in a protocol card'
        return options[found["subject"] or found["alone"]]

    def reworded(message: str) -> str:
        text, contents, rest = message.partition(_CONTENTS)
        for form, instead in _AS_TYPED.get(command, ()):
            text = re.sub(form, instead, text)
        return forms.sub(option, text).replace("expected None or ", "expected ") + contents + rest

    return reworded
