"""The headings under which the help of a command lists its options."""

from __future__ import annotations

from collections.abc import Sequence

import click

#: Options by heading, in the order of the help; other options are what is evaluated.
EVALUATED = "What is evaluated"
HEADINGS: dict[str, Sequence[str]] = {
    EVALUATED: (),
    "Folds and experiments": (
        *("--train", "--validation", "--gallery-quality", "--unseen", "--stratify", "--enrolled"),
        *("--probe-templates", "--too-few", "--repeats", "--folds"),
    ),
    "Uncertainty": ("--interval", "--confidence", "--replicates", "--band", "--seed"),
    "Output": (
        *("--out", "--force", "--plots", "--plot-format", "--report", "--json", "--terms"),
        *("--name", "--worst", "--images", "--per-query"),
    ),
    "Scores": (
        *("--scores", "--kind", "--nan", "--embeddings", "--gallery-embeddings", "--metric"),
        *("--average", "--mask", "--indices", "--first-index", "--format", "--as"),
    ),
    "Labels and metadata": (
        *("--labels", "--probe-labels", "--gallery-labels", "--meta", "--exclude"),
        *("--names-of", "--subject-from", "--session-from"),
    ),
    "Lists": (
        *("--genuine", "--pairs", "--trials", "--impostor", "--missing-pairs", "--keep"),
        "--unordered",
    ),
    "Size and speed": ("--workers", "--scheduler", "--checkpoint", "--memory", "--no-auc"),
    "Help": ("--help",),
}

#: Options that have another heading in a command.
_OF_COMMAND = {
    "run": {
        "Folds and experiments": (
            *("--train", "--gallery-templates", "--unenrolled", "--repeats", "--target"),
            *("--assure", "--guaranteed", "--by", "--claims"),
        ),
    },
}


def by_heading(
    command: str, params: Sequence[click.Parameter], ctx: click.Context
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the headings of a command with the lines of its options."""
    place = {option: heading for heading, options in HEADINGS.items() for option in options}
    order = {option: i for options in HEADINGS.values() for i, option in enumerate(options)}
    for heading, options in _OF_COMMAND.get(command, {}).items():
        place |= dict.fromkeys(options, heading)
        order |= {option: i - len(options) for i, option in enumerate(options)}  # before others
    found: dict[str, list[tuple[int, tuple[str, str]]]] = {heading: [] for heading in HEADINGS}
    for param in params:
        record = param.get_help_record(ctx)
        if record is not None and isinstance(param, click.Option):
            name = max(param.opts, key=len)
            line = order.get(name, len(order)), record
            found[place.get(name, EVALUATED)].append(line)
    listed = [(k, [x for _, x in sorted(v, key=lambda y: y[0])]) for k, v in found.items() if v]
    # A command of few options has one heading.
    if sum(len(lines) for _, lines in listed) <= _FEW:
        return [("Options", [line for _, lines in listed for line in lines])]
    return listed


_FEW = 12
