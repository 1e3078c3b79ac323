"""Options that commands share: reading, the system in use, intervals, output."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from bioeval.base.errors import DataError
from bioeval.base.kinds import KINDS
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

# ------------------------------------------------------------------------- reading a file


def _limit_memory(ctx: click.Context, param: click.Parameter, size: str | None) -> None:
    if size is None:
        return
    from bioeval.base.options import set_options

    try:
        ctx.with_resource(set_options(memory_limit=size))
    except DataError as error:
        raise DataError(in_options(str(error))) from error


def _of_lists(ctx: click.Context, param: click.Parameter, given: Any) -> dict[str, Any]:
    """Return the options of ``--lists`` with their values; a key without a value is True."""
    entries = joined_entries(ctx, param, given)
    for key, value in entries.items():
        if key == "first_index" and value.isdigit():
            entries[key] = int(value)
        elif key == "keep":
            entries[key] = value.split(",")
        else:
            entries[key] = {"yes": True, "no": False, key: True}.get(value, value)
    return entries


#: The arguments of `load`, of each command that reads a file.
_READING = option_group(
    option(
        "--labels FILE", "The subjects of the rows, and of the columns where there is no gallery."
    ),
    option(
        "--gallery FILE",
        "The subjects of the columns, in the same way. With embeddings in a .npy file: the "
        "embeddings of the gallery, with their labels beside them in x.labels.csv.",
    ),
    option(
        "--trials FILE",
        "A text file that says which pairs of a list of scores are trials. Each line has the names "
        "of both sides, and whether the pair is genuine; a list of names alone lists the genuine "
        "pairs.",
    ),
    option(
        "--columns ROLE=NAME|NUMBER",
        "The array, or the column of a list, that has a role or is metadata. Roles are scores, "
        "genuine, labels, gallery_labels, embeddings, gallery_embeddings, indices and mask; of a "
        "list also any name that a column may have, as subject_a, subject_b, template and probe. "
        "The columns of a list without a header have numbers from 1. NAME=None says that the "
        "array or column NAME is not to be read.",
        ENTRIES,
        multiple=True,
        callback=joined_entries,
    ),
    option(
        "--lists KEY=VALUE",
        "Options of lists alone: as, unordered, keep, missing_pairs; of top-K lists first_index "
        "and leave_out_query.",
        ENTRIES,
        multiple=True,
        callback=_of_lists,
    ),
    option(
        "--format FORMAT",
        "The columns of lists without a header: asvspoof, bob, ijb, kaldi, lfw, pyeer, trec or "
        "voxceleb.",
    ),
    option(
        "--kind",
        "Kind of the scores; by default, as the file says, else distance. A text that does not "
        "say it needs the kind.",
        KINDS,
    ),
    option(
        "--nan",
        "Meaning of a comparison that failed; by default, as the file says, else raise.",
        ["raise", "reject", "exclude"],
    ),
    option(
        "--failed X",
        "The score of a comparison that failed, such as -1. A blank score of a list means the "
        "same.",
        FAILED,
    ),
    option("--metric M", "How to compare embeddings: what the file says, else cosine."),
    option(
        "--average NAME,NAME",
        "Metadata columns by which several embeddings become one template, as the template and "
        "the media of IJB.",
        NAMES,
    ),
    option(
        "--exclude RULE",
        "Comparisons that are left out, as for Scores: session, clothes!=, all:camera=3/2.",
        multiple=True,
    ),
    option(
        "--subject-from REGEX",
        "A regular expression that finds the subject in the name of a template. A group, or "
        "several together, are the subject: 'id(\\d+)/'. Groups with names are the subject and "
        "metadata: '(?P<subject>\\w+)_day(?P<session>\\d+)'.",
    ),
    option(
        "--names-of DATASET",
        "The data set (market1501, dukemtmc-reid, msmt17, veri776 or vehicleid) whose names of "
        "images the labels are. Identities and cameras are read from them. The labels are text "
        "files with a name on each line, CSV files with a column name, or arrays of text.",
    ),
    option(
        "--shared",
        "Whether equal names on both sides are one template, which is not compared with itself.",
        bool,
        callback=lambda ctx, param, is_set: True if is_set else None,
    ),
    option(
        "--distractor-ids LABEL",
        "Labels of no known person, in place of the words that Scores lists. An empty one says "
        "that all labels are names.",
        multiple=True,
        callback=lambda ctx, param, labels: tuple(filter(None, labels)) if labels else None,
    ),
    heading="Reading",
)

_MEMORY = option(
    "--memory SIZE",
    "Memory limit, beyond the memory of the program itself, such as 2GiB.",
    name="memory_limit",
    callback=_limit_memory,
    expose_value=False,
)

# ------------------------------------------------------------------------- declaring options


def rates(usage: str, help: str, name: str) -> Callable[[F], F]:
    """Return the option of FAR or FRR targets, which may be given several times."""
    type = FARS if name == "far_targets" else FRRS
    return option(usage, help, type, name=name, multiple=True, callback=joined_lists)


#: The file of scores, and its labels, impostor scores or trials, as it shows itself.
DATA = option_group(
    click.argument("data"),
    click.argument("second", required=False, metavar="[FILE]"),
)

#: What `bioeval run` and `bioeval report` evaluate.
EVALUATED = option_group(
    option(
        "--protocol CARD",
        "Card of what is evaluated: a name (market1501 for mAP and CMC; bioeval protocols lists "
        "all) or a path; auto: all of verification and identification.",
        str,
        "auto",
    ),
    option("--thresholds T,T", "Thresholds at which to report rates (0.5,0.62).", NUMBERS),
    option_group(
        option("--n-thresholds N", "Number of thresholds of the curves.", int),
        heading="Size and speed",
    ),
)

ASSURE = option(
    "--assure P",
    "Also find a threshold whose FAR is at most the target with this confidence, such as 0.95.",
    CONFIDENCE,
)

INTERVAL = option(
    "--interval METHOD",
    "Add confidence intervals, which hold for people who are drawn independently.",
    ["people", "subject-bootstrap", "wilson", "clopper-pearson"],
)

#: The options of tries and of enrolled templates.
TRIES_AND_ENROLMENT = option_group(
    option(
        "--attempts COLUMN",
        "Metadata column: the probes of a subject with the same value are tries of one attempt.",
    ),
    option(
        "--enrol TEMPLATES",
        "Enrolled templates of each subject: first:3, or first:3:COLUMN; all by default.",
    ),
    heading="System in use",
)


def fusion(default: str | None = None) -> Callable[[F], F]:
    """Return the option of the rule by which the scores of a subject are fused."""
    return option(
        "--fusion RULE",
        "How the scores of a subject's templates are fused: best, mean, worst, median, kth:K, min "
        "or max.",
        str,
        default,
    )


_USE = option_group(
    TRIES_AND_ENROLMENT,
    option_group(
        option(
            "--templates",
            "Whether a claim is compared with one template of the subject, or with all of them.",
            ["single", "multi"],
        ),
        heading="System in use",
    ),
    option_group(fusion(), heading="System in use"),
)

_INTERVAL = option_group(
    option("--confidence P", "Two-sided confidence of the intervals.", CONFIDENCE, 0.95),
    option("--replicates N", "Number of bootstrap replicates.", int, 2000),
    option(
        "--unit COLUMN",
        "Column of metadata whose values are left out in turn, in place of people.",
    ),
    option("--seed N", "Seed of a bootstrap.", at_least(0), 0, name="random_state"),
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
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator: a function of a :class:`Run` becomes the function of a command.

    The command has the options that it shares with others: of the system in `use`, of an
    `interval`, of output (into `files` with `plots`, as a `page`, `printed`, with the `name` of the
    system or the `names` of several) and of `reading` scores; and ``--fail-if`` with the example
    and the words in `fails`. The run has the values of these options. The function is called with
    the run, and with those arguments and options of its own that the user gave.
    """
    names_given = [_NAMES] if names else [_NAME] * name
    output = (
        [_FILES] * files + [_PLOTS] * plots + [_PAGE] * page + [_PRINTED] * printed + names_given
    )
    options = option_group(
        *[_USE] * use,
        *[_INTERVAL] * interval,
        *([_fail_if(*fails)] if fails else []),
        option_group(*output, heading="Output"),
        *[_READING] * reading,
        option_group(*[_MEMORY] * reading, heading="Size and speed"),
    )

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def call(**given: Any) -> None:
            from bioeval.cli.running import Run

            run = Run(given)
            with run.stages:
                function(run, **{name: x for name, x in given.items() if x not in (None, ())})
            run.show()

        return options(call)

    return decorate


def rule_of(far: float | None, name: str, rule: Any) -> Any:
    """Return the rule of ``--far X`` if given, else `rule`, the value of the option ``--name``."""
    if far is None:
        return rule
    source = click.get_current_context().get_parameter_source(name)
    if source is ParameterSource.COMMANDLINE:
        raise click.UsageError(f"give --far or --{name}, one of the two")
    return f"far={far!r}"
