"""Options shared by commands, and how messages name them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.errors import (
    Argument,
    DataError,
    Part,
    ProtocolError,
    Words,
)
from bioeval.base.kinds import KINDS
from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import Value
from bioeval.cli.calls import options_of
from bioeval.cli.command import F, naming, option, option_group
from bioeval.cli.use import USE

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


# ------------------------------------------------------------------------- reading a file


def _limit_memory(ctx: click.Context, param: click.Parameter, size: str | None) -> None:
    """Set the memory limit while the command runs."""
    if size is None:
        return
    from bioeval.base.options import set_options

    try:
        ctx.with_resource(set_options(memory_limit=size))
    except DataError as error:
        raise DataError(error.message(naming())) from error


#: How a file is read, for each command that reads one.
_READING = option_group(
    option(
        "--kind",
        "Kind of the scores.  [that of the file, else distance; required for text files]",
        KINDS,
    ),
    option(
        "--nan",
        "How to treat failed comparisons (NaN).  [as the file states, else raise]",
        ["raise", "reject", "exclude"],
    ),
    option("--scores KEY", "Array of scores."),
    option("--genuine KEY", "Array of 0 (impostor) and 1 (genuine) for a list of scores."),
    option("--embeddings KEY", "Array, or column of a table, with an embedding in each row."),
    option(
        "--gallery-embeddings KEY|FILE",
        "Array, .npy file or table of the gallery's embeddings.",
    ),
    option("--indices KEY", "Array of top-K lists: gallery entries of each query."),
    option(
        "--first-index", "Number of the first gallery entry in top-K lists.", click.IntRange(0, 1)
    ),
    option(
        "--leave-out-query",
        "Whether queries of top-K lists that are gallery entries themselves are left out of their "
        "own lists.  [where the names of templates show them]",
        ["yes", "no"],
    ),
    option(
        "--metric M", "Metric between embeddings: cosine, l2, l1, linf, bhattacharyya.  [cosine]"
    ),
    option(
        "--labels KEY|FILE",
        "Subjects of the rows; of the columns, too, without --gallery-labels.",
    ),
    option("--gallery-labels KEY|FILE", "Subjects of the columns, if they are other templates."),
    option(
        "--names-of DATASET",
        "The labels are image names of market1501, dukemtmc-reid, msmt17, veri776 or "
        "vehicleid, or label-xml lists.",
    ),
    option(
        "--mask KEY|FILE",
        "Array of booleans (true: an attempt), or of 0 ignore, 1 impostor, 2 genuine; or the "
        ".mask file of a .mtx matrix.",
    ),
    option(
        "--meta NAME[=KEY]",
        "Metadata column, such as camera or camera=KEY, or probe_camera=KEY and "
        "gallery_camera=KEY; repeatable.",
        Value.METADATA,
        multiple=True,
    ),
    option(
        "--exclude RULE",
        "Leave out mates with the same value in a metadata column (session), with another one "
        "(clothes!=), or of two values (camera=3/2); all pairs: all:camera=3/2. Repeatable.",
        multiple=True,
    ),
    option(
        "--average NAME,NAME",
        "Average embeddings by metadata columns before comparison: template,media.",
    ),
    option(
        "--pairs KEY|TXT",
        "Array of pairs to evaluate: index a, index b, (fold,) same. Or a list in the "
        "format of LFW; it needs labels and the metadata column image_number.",
    ),
    option(
        "--missing-pairs",
        "How to treat listed pairs whose image or score is missing.  [raise]",
        ["raise", "skip"],
    ),
    option(
        "--trials TXT",
        "Trials for a text file of scores: both names, and whether the pair is genuine.",
    ),
    option("--impostor TXT", "File of impostor scores, if DATA has genuine scores, one per line."),
    option(
        "--subject-from REGEX",
        "Part of a template's name that is its subject, such as 'id(\\d+)/'; for text files.",
    ),
    option(
        "--session-from REGEX",
        "Part of a template's name that is its session; for text matrices and --as matrix; "
        "see --exclude.",
    ),
    option(
        "--format FORMAT",
        "Format of DATA; see bioeval convert --list.  [from its content]",
        name="format_",
    ),
    option(
        "--as",
        "Read a list of pairs as pairs, or as a matrix, for identification.  [pairs]",
        ["pairs", "matrix"],
        name="as_",
    ),
    option(
        "--keep",
        "In a list that names its templates, also count comparisons of a template with "
        "itself (self), or every repeated pair (repeated).  [neither]",
        ["self", "repeated"],
        multiple=True,
    ),
    option(
        "--unordered",
        "In a list that names its templates, count a-b and b-a as one attempt; in a matrix "
        "(--as matrix) each score is that of both orders.",
        bool,
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

_INTERVAL = options_of(
    "stats.IntervalMethod",
    *("confidence", "replicates", "random_state"),
    heading="Intervals",
    confidence={"default": 0.95},
    replicates={"default": 2000},
)

TERMS = option(
    "--terms",
    "Terms in tables and plots: of the lecture (GAR, FAR, FRR, DIR, CMS) or of ISO/IEC 19795-1 "
    "(FMR, FNMR, FPIR, TPIR). Result files always use the former.",
    ["lecture", "iso"],
    "lecture",
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
    option(
        "--plot-style",
        "Sizes of plots and letters: slide (16:9, read from the last row) or paper (a column of a "
        "journal).  [default]",
        ["default", "slide", "paper"],
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
    TERMS,
)
_PAGE = option("--report HTML", "Write an HTML page with the answer, tables and curves.")
NAMES = option(
    "--name NAME",
    "Name of a system; repeatable, in the order of the files.  [the files' names]",
    multiple=True,
)
_NAME = option("--name NAME", "Name of the system.  [names of file and array]")


def shared_options(
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
) -> Callable[[F], F]:
    """Return the options that a command shares with others.

    They are those of the system in `use`, of `interval`, of output (into `files` with `plots`, as a
    `page`, with the `name` of the system or the `names` of several) and of `reading` scores.
    """
    names_given = [NAMES] if names else [_NAME] * name
    output = (
        [_FILES] * files + [_PLOTS] * plots + [_PAGE] * page + [_PRINTED] * printed + names_given
    )
    return option_group(
        *[USE] * use,
        *[_INTERVAL] * interval,
        option_group(*output, heading="Output"),
        *[_READING] * reading,
        option_group(*[_MEMORY] * reading, heading="Size and speed"),
    )


# ------------------------------------------------------------------------- taking options


def require_method(interval: str | None, *, seed_of_draws: bool = False) -> None:
    """Refuse options of an interval that are given without its method.

    With `seed_of_draws` the seed is also that of an experiment.
    """
    context = click.get_current_context()
    words = {"confidence": "--confidence", "replicates": "--replicates"}
    if not seed_of_draws:
        words["random_state"] = "--seed"
    for name, word in words.items():
        if interval is None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{word} needs --interval METHOD, such as {_first_method()}")


def take_interval(options: dict[str, Any], method: str | None = None) -> None:
    """Put one object in the place of the options of an interval, None without a `method`."""
    from bioeval.stats.options import IntervalMethod

    names = ("confidence", "replicates", "random_state")
    values = {name: options.pop(name) for name in names if name in options}
    options["interval"] = None if method is None else IntervalMethod(method, **values)


def _first_method() -> str:
    """Return the first method of intervals of the command that runs."""
    for param in click.get_current_context().command.params:
        if param.name == "interval" and isinstance(param.type, click.Choice):
            return str(param.type.choices[0])
    return INTERVALS[0]


_WORDS = (
    *("kind", "nan", "metric", "names_of", "first_index", "missing_pairs", "exclude"),
    *("trials", "impostor", "subject_from", "session_from", "as_", "format_"),
    *("keep", "unordered"),
)
_KEYS = ("scores", "genuine", "embeddings", "indices")
_KEYS_OR_FILES = (*("gallery_embeddings", "pairs", "mask", "labels", "gallery_labels"),)


def take_reading(data: str, options: dict[str, Any]) -> dict[str, Any]:
    """Remove the reading options from a command's; return arguments of :func:`bioeval.load`.

    A second file is the mask, labels, impostor scores, trials or pairs of the first, as it shows
    itself.
    """
    second = options.pop("second", None)
    if second is not None:
        from bioeval.scores.formats.registry import role_of_second_file

        role = role_of_second_file(Path(data), Path(second))
        if options[role] is not None:
            raise click.UsageError(
                f"{second!r} is a second file, beside --{role.replace('_', '-')} {options[role]!r}"
            )
        options[role] = second
    arguments = {name: options.pop(name) for name in _WORDS}
    arguments |= {f"{name}_key": options.pop(name) for name in _KEYS}
    # Only files of arrays have names of these.
    suffixes = ("", ".npz", ".mat", ".h5", ".hdf5")
    has_names = Path(data).suffix.lower() in suffixes
    for name in _KEYS_OR_FILES:
        value = options.pop(name)
        if value is not None:
            is_file = value.lower().endswith((".csv", ".txt", ".xml", ".mask", ".npy"))
            if value is not second and has_names and not is_file:
                name += "_key"
            arguments[name] = value
    own = options.pop("leave_out_query")
    arguments["leave_out_query"] = None if own is None else own == "yes"
    arguments["meta"] = _by_name(options.pop("meta"))
    average = options.pop("average")
    if average is None:
        arguments["average"] = None
    else:
        arguments["average"] = tuple(average.split(","))
    return arguments


def system_name(file: str, name: str | None, reading: dict[str, Any]) -> str:
    """Return the name of a system: as given, else that of the file and the chosen array."""
    array = reading["scores_key"] or reading["embeddings_key"]
    return name or ":".join(filter(None, (Path(file).stem, array)))


def _by_name(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    columns = {}
    for name, key in pairs:
        if name in columns:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="'--meta'")
        columns[name] = key
    return columns


def read_scores(
    file: str, reading: dict[str, Any], stages: Callable[[str], None], mates: bool = True
) -> Scores:
    """Return the scores of a file; with `mates`, some subject must have two templates."""
    from bioeval.scores.formats import load

    stages(f"reading {file}")
    scores = load(file, **reading)
    if mates:
        _require_mates(scores, Path(file))
    return scores


def _require_mates(scores: Scores, file: Path) -> None:
    """Raise :class:`ProtocolError` where no subject of a square matrix has two templates."""
    if scores.layout != "all-against-all" or not scores._labelled:
        return
    if len(set(scores._codes.gallery.tolist())) == scores.shape[1]:
        from bioeval.scores.formats.format import ReadOptions
        from bioeval.scores.formats.registry import recognise
        from bioeval.scores.listed_templates import EXAMPLE_PATTERN, subject_pattern

        pattern = subject_pattern([*map(str, scores.gallery_labels)])
        advice: Part = Words(
            "If rows and columns are two sets of templates, genuine on the diagonal, give the "
            "labels of both: ",
            Argument("labels"),
            " ... ",
            Argument("gallery_labels"),
            " ...",
        )
        named = pattern != EXAMPLE_PATTERN and file.is_file()
        if named and "subject_from" in recognise(file, ReadOptions()).options:
            advice = f"If the labels are names of templates, give --subject-from '{pattern}'"
        raise ProtocolError(
            "no subject has two templates, and a template is not compared with itself: there is "
            "no genuine attempt. ",
            advice,
        )
