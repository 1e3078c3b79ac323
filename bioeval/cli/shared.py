"""Options that commands share: reading, the system in use, intervals, output."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import (
    CONFIDENCE,
    ENTRIES,
    FAILED,
    FARS,
    FRRS,
    NAMES,
    NUMBERS,
    Value,
    at_least,
    joined_entries,
    joined_lists,
)
from bioeval.cli.command import F, in_options, option, option_group
from bioeval.cli.signatures import option_of

if TYPE_CHECKING:
    from bioeval.cli.running import Output

# ------------------------------------------------------------------------- reading a file


def _limit_memory(ctx: click.Context, param: click.Parameter, size: str | None) -> None:
    if size is None:
        return
    from bioeval.base.options import set_options

    try:
        ctx.with_resource(set_options(memory_limit=size))
    except DataError as error:
        raise DataError(in_options(str(error))) from error


def _of_lists(ctx: click.Context, param: click.Parameter, entries: Any) -> dict[str, Any]:
    """Return the options of ``--lists`` with their values; a key without a value is True."""
    options = joined_entries(ctx, param, entries)
    for key, value in options.items():
        if key == "first_index" and value.isdigit():
            options[key] = int(value)
        elif key == "keep":
            options[key] = value.split(",")
        elif value in ("yes", key):  # `--lists unordered` is read as `unordered=unordered`
            options[key] = True
        elif value == "no":
            options[key] = False
    return options


#: The arguments of `load`, of each command that reads a file.
_READING = option_group(
    option_of("load", "--labels FILE"),
    option_of(
        "load",
        "--gallery FILE",
        more=". With embeddings in a .npy file: the embeddings of the gallery, with their labels "
        "beside them in x.labels.csv.",
    ),
    option_of(
        "load",
        "--trials FILE",
        more=". Each line has the names of both sides, and whether the pair is genuine; a list of "
        "names alone lists the genuine pairs.",
    ),
    option_of(
        "load",
        "--columns ROLE=NAME|NUMBER",
        ENTRIES,
        more=". Roles are scores, genuine, labels, gallery_labels, embeddings, gallery_embeddings, "
        "indices and mask; of a list also any name that a column may have, as subject_a, "
        "subject_b, template and probe. The columns of a list without a header have numbers from "
        "1. NAME=None says that the array or column NAME is not to be read.",
        multiple=True,
        callback=joined_entries,
    ),
    option_of("load", "--lists KEY=VALUE", ENTRIES, multiple=True, callback=_of_lists),
    option_of(
        "load",
        "--format FORMAT",
        str,
        more=": asvspoof, bob, kaldi, lfw, pyeer, trec or voxceleb.",
    ),
    option_of(
        "load",
        "--kind",
        more="; by default, as the file says, else distance. A text that does not say it needs "
        "the kind.",
    ),
    option_of("load", "--nan", more="; by default, as the file says, else raise."),
    option_of("load", "--failed X", FAILED, more=". A blank score of a list means the same."),
    option_of("load", "--metric M", str, more=": what the file says, else cosine."),
    option_of("load", "--average NAME,NAME", NAMES),
    option_of("load", "--exclude RULE", multiple=True),
    option_of(
        "load",
        "--subject-from REGEX",
        more=". A group, or several together, are the subject: 'id(\\d+)/'. Groups with names are "
        "the subject and metadata: '(?P<subject>\\w+)_day(?P<session>\\d+)'.",
    ),
    option_of(
        "load",
        "--names-of DATASET",
        more=". Identities and cameras are read from them. The labels are text files with a name "
        "on each line, CSV files with a column name, or arrays of text.",
    ),
    option_of(
        "Scores",
        "--shared",
        bool,
        default=None,
        callback=lambda ctx, param, is_set: True if is_set else None,
    ),
    option_of(
        "load",
        "--distractor-ids LABEL",
        more=". An empty one says that all labels are names.",
        multiple=True,
        callback=lambda ctx, param, labels: tuple(filter(None, labels)) if labels else None,
    ),
    heading="Reading",
)

_MEMORY = option_of(
    "set_options",
    "--memory SIZE",
    str,
    name="memory_limit",
    callback=_limit_memory,
    expose_value=False,
)

# ------------------------------------------------------------------------- declaring options


def rates(call: str, *names: str) -> Callable[[F], F]:
    """Return the options of the FAR or FRR targets of a call, each perhaps given several times."""
    usage_and_type = {"far_targets": ("--far X", FARS), "frr_targets": ("--frr X", FRRS)}
    options = []
    for name in names:
        usage, type = usage_and_type[name]
        options.append(
            option_of(call, usage, type, name=name, multiple=True, callback=joined_lists)
        )
    return option_group(*options)


def _second_file(ctx: click.Context, param: click.Parameter, files: tuple[str, ...]) -> str | None:
    if len(files) > 1:
        raise click.UsageError(
            f"{1 + len(files)} files are given, and {ctx.command_path} takes one system: a file, "
            "and perhaps a second one, such as genuine and impostor scores, embeddings and "
            "gallery, or scores and labels; several systems are for bioeval compare"
        )
    return files[0] if files else None


#: The file of scores, and its labels, impostor scores or trials, as it shows itself.
DATA = option_group(
    click.argument("data"),
    click.argument("second", nargs=-1, metavar="[FILE]", callback=_second_file),
)

#: What `bioeval run` and `bioeval report` evaluate.
EVALUATED = option_group(
    option_of("evaluate", "--protocol CARD", str),
    option_of("evaluate", "--thresholds T,T", NUMBERS),
    option_group(option_of("evaluate", "--n-thresholds N"), heading="Size and speed"),
)

ASSURE = option_of("study_threshold", "--assure P", CONFIDENCE)

#: The options of tries and of enrolled templates.
TRIES_AND_ENROLMENT = option_group(
    option_of("claim_scores", "--attempts COLUMN"),
    option_of("claim_scores", "--enrol TEMPLATES"),
    heading="System in use",
)


_USE = option_group(
    TRIES_AND_ENROLMENT,
    option_group(
        option_of("verification", "--templates", default=None),
        option_of("claim_scores", "--fusion RULE", str, default=None),
        heading="System in use",
    ),
)

_INTERVAL = option_group(
    option_of("stats.IntervalMethod", "--confidence P", CONFIDENCE, default=0.95),
    option_of("stats.IntervalMethod", "--replicates N", int, default=2000),
    option_of("stats.IntervalMethod", "--unit COLUMN"),
    option_of("stats.IntervalMethod", "--seed N", at_least(0), default=0, name="random_state"),
    heading="Intervals",
)

_PLOTS = option_group(
    option("--plots", "With --out: also draw the plots.", bool),
    option(
        "--plot-format",
        "File format of the plots; repeatable.  [png]",
        ["png", "pdf", "svg"],
        multiple=True,
        name="plot_formats",
    ),
)
_FILES = option_group(
    option("--out DIR", "Write results.nc, summary.json, table.txt and CSV files."),
    option("--force", "Replace the results of an earlier run.", bool),
)
_PRINTED = option_group(
    option(
        "--json",
        "Print one JSON document: rates are fractions, undefined values are null, infinite "
        'thresholds are the words "inf" and "-inf".',
        bool,
        name="as_json",
    ),
    option("--latex", "Print the tables as LaTeX, for booktabs.", bool),
    option("--markdown", "Print the tables as Markdown.", bool),
    option("--verbose", "Print all rows, explanations and messages.", bool),
)
_PAGE = option("--report HTML", "Write an HTML page with the answer, tables and curves.")
_NAMES = option(
    "--name NAME",
    "Name of a system; repeatable, in the order of the files.  [the files' names]",
    multiple=True,
)
_NAME = option("--name NAME", "Name of the system.  [names of file and array]")


def _fail_if(example: str, *words: str) -> Callable[[F], F]:
    """Return the option ``--fail-if`` of a command, with an example of its own numbers.

    `words` are conditions on the verdicts of the command.
    """
    form = "MEASURE[=POINT][@DIMENSION=VALUE,...]"
    expected = f'{form} > X, < X, >= X or <= X, such as "{example}"'
    if words:
        expected += f"; or {' or '.join(words)}"

    def condition(text: str) -> Any:
        from bioeval.showing.conditions import Condition

        return Condition.parse(text, words)

    listed = "".join(f"{x}, or " for x in words)
    return option(
        "--fail-if CONDITION",
        f'End with exit code 1 if it is true, or cannot be told: {listed}"{example}"; repeatable.',
        Value("condition", condition, expected),
        multiple=True,
        name="fail_if",
    )


def shared(
    *,
    use: bool = False,
    interval: bool = False,
    files: bool = True,
    plots: bool = False,
    page: bool = True,
    printed: bool = True,
    name: bool = True,
    names: bool = False,
    reading: bool = True,
    fails: tuple[str, ...] = (),
) -> Callable[[Callable[..., Output]], Callable[..., None]]:
    """Return a decorator: a function of a :class:`Run` becomes the function of a command.

    The command has the options that it shares with others: of the system in `use`, of an
    `interval`, of output (into `files` with `plots`, as a `page`, `printed`, with the `name` of the
    system or the `names` of several) and of `reading` scores; and ``--fail-if`` with the example
    and the words in `fails`. The run has the values of these options. The function is called with
    the run, and with those arguments and options of its own that the user gave. What it returns is
    printed, by ``--json``, ``--latex`` or ``--markdown`` if given.
    """
    output = [
        (_FILES, files),
        (_PLOTS, plots),
        (_PAGE, page),
        (_PRINTED, printed),
        (_NAMES, names),
        (_NAME, name and not names),
    ]
    groups = []
    if use:
        groups.append(_USE)
    if interval:
        groups.append(_INTERVAL)
    if fails:
        groups.append(_fail_if(*fails))
    groups.append(
        option_group(*(option for option, is_wanted in output if is_wanted), heading="Output")
    )
    if reading:
        groups.append(_READING)
        groups.append(option_group(_MEMORY, heading="Size and speed"))
    add_options = option_group(*groups)

    def decorate(function: Callable[..., Output]) -> Callable[..., None]:
        @functools.wraps(function)
        def call(**values: Any) -> None:
            from bioeval.cli.running import Run

            run = Run(values)  # takes the shared options out of the values
            own = {name: value for name, value in values.items() if value not in (None, ())}
            with run.stages:
                output = function(run, **own)
            output.show(run.as_json, run.markup)

        return add_options(call)

    return decorate
