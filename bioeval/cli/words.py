"""Messages of the library in the words of the command line: options, not arguments of Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from bioeval.formats.options import FLAGS

#: What an argument is called on the command line, for each command.
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "run": {
        **FLAGS,
        "thresholds": "--thresholds",
        "max_rank": "--max-rank",
        "far_targets": "--far",
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

# Names of arrays in a file may well be those of arguments, and are left as they are.
_CONTENTS = "It holds: "
_VALUE = r"""(?:'([^']*)'|"([^"]*)")"""


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
    both_ways = re.compile(r"\b\w+=(?:'[^']*')? \((--[^()]+)\)")
    assigned = re.compile(rf"\b({names})={_VALUE}")
    of_a_card = re.compile(rf"\b({'|'.join(OF_A_CARD)})={_VALUE}")
    subject = re.compile(rf"^((?:\S+: )?)({names})(?= (?:is|has|do|=)\b| = |\[)")
    alone = re.compile(rf"(?<![\w./'\"=-])({long_names})(?![\w/'\"=:(-]|\.\w)")

    def reworded(message: str) -> str:
        text, contents, rest = message.partition(_CONTENTS)
        text = both_ways.sub(r"\1", text)
        text = assigned.sub(lambda m: f"{options[m[1]]} {m[2] or m[3]}", text)
        text = of_a_card.sub(lambda m: f'{m[1]} = "{m[2] or m[3]}" in a protocol card', text)
        text = subject.sub(lambda m: m[1] + options[m[2]], text)
        text = alone.sub(lambda m: options[m[1]], text)
        return text.replace("expected None or ", "expected ") + contents + rest

    return reworded
