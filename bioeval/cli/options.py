"""Options shared by commands, and how messages name them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from bioeval.base.errors import Argument, BioevalError, Naming, ProtocolError, renamed
from bioeval.base.kinds import KINDS
from bioeval.cli.arguments import CONFIDENCE, MARGIN, METADATA, RATES, ThresholdsOption
from bioeval.cli.examples import examples_in_help
from bioeval.cli.help_headings import by_heading

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores

F = TypeVar("F", bound=Callable[..., Any])

#: Arguments of the library that a protocol card sets, where a command has no option for them.
OF_A_CARD = ("ties", "impostors", "rank_unit", "fusion", "unmated", "unenrolled_claims")

#: Arguments with which tallies were counted, where a command that merges them has no such option.
OF_COUNTING = {
    name: f"bioeval tally {option}"
    for name, option in (
        *(("site", "--site"), ("key", "--key-file"), ("mates", "--mates"), ("points", "--points")),
    )
}

#: An empty line before lines that are indented: click would fill a paragraph without a mark.
_INDENTED = re.compile(r"\n\n(?=[^\n]*\n  )")


class Command(click.Command):
    """A command whose help is its docstring, and whose errors name its options.

    The first paragraph of the docstring comes before the examples and options, the others after.

    The name of each parameter is that of the library's argument, so that a message about the
    argument is one about the option.
    """

    def __init__(self, name: str | None, help: str | None = None, **settings: Any):
        summary, _, details = cleandoc(help or "").partition("\n\n")
        details = _INDENTED.sub("\n\n\b\n", f"\n\n{details}").strip("\n")
        super().__init__(name, help=summary, epilog=details, **settings)

    def naming(self) -> Naming:
        """Return the function that writes an argument of the library as the command's option.

        An argument in ``_key``, the name of an array, has the option without the ending: one
        option takes a file or an array.
        """
        options = {
            param.name: max(param.opts, key=len)
            for param in self.params
            if isinstance(param, click.Option)
        }
        if "workers" in options:  # or a cluster that is there
            options["client"] = "--workers and --scheduler"

        def named(name: str, value: str | None) -> str:
            option = options.get(name) or options.get(name.removesuffix("_key"))
            option = option or OF_COUNTING.get(name)
            if option is None and name in OF_A_CARD and value:
                return f"{name} = {value} in a protocol card"
            if value is None:
                return option or name
            typed = value.strip('"')
            return f"{name}={value}" if option is None else f"{option} {shlex.quote(typed)}"

        return named

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, and its most used examples."""
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            for line in examples_in_help(self.name or ""):
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the details below the options."""
        if self.epilog:
            with formatter.section("Details"):
                formatter.write_text(self.epilog)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under their headings, in columns of one width."""
        listed = by_heading(self.name or "", self.get_params(ctx), ctx)
        widest = min(30, max(len(name) for _, lines in listed for name, _ in lines))
        for heading, lines in listed:
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{widest}}", text) for name, text in lines])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error of the library names the command's options."""
        try:
            return super().invoke(ctx)
        except BioevalError as error:
            raise type(error)(error.message(self.naming())) from error


def naming() -> Naming:
    """Return the function that writes an argument as an option of the command that runs."""
    command = click.get_current_context().command
    assert isinstance(command, Command)
    return command.naming()


def reword(text: str) -> str:
    """Return a text in which arguments are named as options of the command that runs."""
    return renamed(text, naming())


def option_group(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that gives a command these options, in this order."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def assure_options(what: str) -> Callable[[F], F]:
    """Return the options of an assured threshold."""
    return option_group(
        click.option(
            "--assure",
            type=CONFIDENCE,
            metavar="P",
            help=f"{what} whose FAR is at most X with this confidence, such as 0.95.",
        ),
        click.option(
            "--guaranteed",
            "assurance",
            is_flag=True,
            flag_value="guaranteed",
            default="estimated",
            help="With --assure: hold for any population; needs more subjects.",
        ),
    )


def require_assure(options: dict[str, Any]) -> None:
    """Raise unless the options of a promise come with its confidence."""
    for name, option in (("assurance", "--guaranteed"), ("new_gallery", "--new-gallery")):
        if options["assure"] is None and options.get(name) in ("guaranteed", True):
            raise click.UsageError(f"{option} needs --assure P, such as --assure 0.95")


def margin_option(what: str) -> Callable[[F], F]:
    """Return the option of the margins of a comparison that tests whether `what`."""
    return click.option(
        "--margin",
        type=MARGIN,
        multiple=True,
        metavar="X",
        callback=lambda ctx, param, given: _margins(given),
        help=f"Difference that does not matter, set beforehand: test whether {what} by less "
        "than X or not at all, and whether both differ by less than X (equivalent). 0.01 is 1 "
        "percentage point, of all measures; frr_at_far=0.01 of one; repeatable.",
    )


def _margins(given: tuple[tuple[str, float], ...]) -> float | dict[str, float] | None:
    """Return the margin of all measures, or those of some by name."""
    names = [name for name, _ in given]
    if len(set(names)) < len(names) or ("" in names and len(names) > 1):
        raise click.UsageError(
            "--margin is given twice for one measure; expected one number for all measures, or "
            "MEASURE=number once for each"
        )
    return dict(given).get("", dict(given) or None)


# ------------------------------------------------------------------------- reading a file

#: How a file is read, for each command that reads one.
reading_options = option_group(
    click.option(
        "--kind",
        type=click.Choice(KINDS),
        help="Kind of the scores.  [that of the file, else distance; required for text files]",
    ),
    click.option(
        "--nan",
        type=click.Choice(["raise", "reject", "exclude"]),
        help="How to treat failed comparisons (NaN).  [as the file states, else raise]",
    ),
    click.option("--scores", metavar="KEY", help="Array of scores."),
    click.option(
        "--genuine",
        metavar="KEY",
        help="Array of 0 (impostor) and 1 (genuine) for a list of scores.",
    ),
    click.option("--embeddings", metavar="KEY", help="Array of embeddings, one per row."),
    click.option(
        "--gallery-embeddings",
        metavar="KEY|NPY",
        help="Array or .npy file of the gallery's embeddings.",
    ),
    click.option(
        "--indices", metavar="KEY", help="Array of top-K lists: gallery entries of each query."
    ),
    click.option(
        "--first-index",
        type=click.IntRange(0, 1),
        help="Number of the first gallery entry in top-K lists.",
    ),
    click.option(
        "--metric",
        metavar="M",
        help="Metric between embeddings: cosine, l2, l1, linf, bhattacharyya.  [cosine]",
    ),
    click.option(
        "--labels",
        metavar="KEY|FILE",
        help="Subjects of the templates, if rows and columns are the same templates.",
    ),
    click.option("--probe-labels", metavar="KEY|FILE", help="Subjects of the rows."),
    click.option("--gallery-labels", metavar="KEY|FILE", help="Subjects of the columns."),
    click.option(
        "--names-of",
        metavar="DATASET",
        help="The labels are image names of market1501, dukemtmc-reid, msmt17, veri776 or "
        "vehicleid, or label-xml lists.",
    ),
    click.option(
        "--mask",
        metavar="KEY|FILE",
        help="Array of 0 ignore, 1 impostor, 2 genuine; or the .mask file of a .mtx matrix.",
    ),
    click.option(
        "--meta",
        type=METADATA,
        multiple=True,
        metavar="NAME=KEY",
        help="Metadata column, such as camera=KEY, or probe_camera=KEY and gallery_camera=KEY; "
        "repeatable.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="NAME",
        help="Leave out pairs of one subject with the same value in this metadata column, such "
        "as session; repeatable.",
    ),
    click.option(
        "--average",
        metavar="NAME,NAME",
        help="Average embeddings by metadata columns before comparison: template,media.",
    ),
    click.option(
        "--pairs",
        metavar="KEY|TXT",
        help="Array of pairs to evaluate: index a, index b, (fold,) same. Or a list in the "
        "format of LFW; it needs labels and the metadata column image_number.",
    ),
    click.option(
        "--missing-pairs",
        type=click.Choice(["raise", "skip"]),
        help="How to treat listed pairs whose image or score is missing.  [raise]",
    ),
    click.option(
        "--trials",
        metavar="TXT",
        help="Trials for a text file of scores: both names, and whether the pair is genuine.",
    ),
    click.option(
        "--impostor",
        metavar="TXT",
        help="File of impostor scores, if DATA has genuine scores, one per line.",
    ),
    click.option(
        "--subject-from",
        metavar="REGEX",
        help="Part of a template's name that is its subject, such as 'id(\\d+)/'; for text files.",
    ),
    click.option(
        "--session-from",
        metavar="REGEX",
        help="Part of a template's name that is its session; for text matrices and --as matrix; "
        "see --exclude.",
    ),
    click.option(
        "--format",
        "format_",
        metavar="FORMAT",
        help="Format of DATA; see bioeval convert --list.  [from its content]",
    ),
    click.option(
        "--as",
        "as_",
        type=click.Choice(["pairs", "matrix"]),
        help="Read a list of pairs as pairs, or as a matrix, for identification.  [pairs]",
    ),
    click.option(
        "--keep",
        type=click.Choice(["self", "repeated"]),
        multiple=True,
        help="In a list that names its templates, also count comparisons of a template with "
        "itself (self), or every repeated pair (repeated).  [neither]",
    ),
    click.option(
        "--unordered",
        is_flag=True,
        help="In a list that names its templates, count a-b and b-a as one attempt; in a matrix "
        "(--as matrix) each score is that of both orders.",
    ),
    click.option(
        "--memory",
        "memory_limit",
        metavar="SIZE",
        help="Memory limit, beyond the memory of the program itself, such as 2GiB.",
    ),
)

_WORDS = (
    *("kind", "nan", "metric", "names_of", "first_index", "missing_pairs", "exclude"),
    *("trials", "impostor", "subject_from", "session_from", "as_", "format_", "memory_limit"),
    *("keep", "unordered"),
)
_KEYS = ("scores", "genuine", "embeddings", "indices")
_KEYS_OR_FILES = (
    *("gallery_embeddings", "pairs", "mask", "labels", "probe_labels", "gallery_labels"),
)


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
                f"{second!r} is a second file, beside --{role} {options[role]!r}"
            )
        options[role] = second
    arguments = {name: options.pop(name) for name in _WORDS}
    arguments |= {f"{name}_key": options.pop(name) for name in _KEYS}
    for name in _KEYS_OR_FILES:
        value = options.pop(name)
        if value is not None:
            key = value is not second and _is_key(value, data)
            arguments[f"{name}_key" if key else name] = value
    arguments["meta"] = _by_name(options.pop("meta"))
    average = options.pop("average")
    arguments["average"] = None if average is None else tuple(average.split(","))
    return arguments


name_option = click.option(
    "--name", metavar="NAME", help="Name of the system.  [names of file and array]"
)


def system_name(file: str, given: str | None, reading: dict[str, Any]) -> str:
    """Return the name of a system: as given, else that of the file and the chosen array."""
    array = reading["scores_key"] or reading["embeddings_key"]
    return given or ":".join(filter(None, (Path(file).stem, array)))


names_option = click.option(
    "--name",
    multiple=True,
    metavar="NAME",
    help="Name of a system; repeatable, in the order of the files.  [the files' names]",
)


def system_names(
    files: tuple[str, ...], given: tuple[str, ...], reading: dict[str, Any]
) -> tuple[str, ...]:
    """Return the names of several systems: those given, one for each, or their own."""
    if given and len(given) != len(files):
        raise click.UsageError(f"--name is given {len(given)} times for {len(files)} systems")
    return given or tuple(system_name(file, None, reading) for file in files)


def _is_key(value: str, data: str) -> bool:
    """Whether a KEY or a file is a key: only files of arrays have names of these."""
    suffixes = ("", ".npz", ".mat", ".h5", ".hdf5", ".nc", ".zarr", ".safetensors")
    in_file = Path(data).suffix.lower() in suffixes
    return in_file and not value.lower().endswith((".csv", ".txt", ".xml", ".mask", ".npy"))


def _by_name(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for name, key in pairs:
        if name in columns:
            raise click.BadParameter(f"{name!r} is given twice", param_hint="'--meta'")
        columns[name] = key
    return columns


# ------------------------------------------------------------------------- numbers


def far_targets_option(help: str) -> Callable[[F], F]:
    """Return the option of FAR targets."""
    return click.option(
        "--far",
        "far_targets",
        type=RATES,
        multiple=True,
        callback=lambda ctx, param, given: [x for numbers in given for x in numbers] or None,
        help=f"{help}, such as 0.001; repeatable.",
    )


far_option = far_targets_option("FAR at which to report FRR and DIR")

fusion_option = click.option(
    "--fusion",
    default="min",
    metavar="RULE",
    help="Fusion of the scores of a subject's templates: min, mean, max, median or kth:K.",
)

templates_option = click.option(
    "--templates",
    type=click.Choice(["single", "multi"]),
    default="single",
    help="Verification attempts: one per gallery template (single), or one per subject (multi).",
)

terms_option = click.option(
    "--terms",
    type=click.Choice(["lecture", "iso"]),
    default="lecture",
    help="Terms in tables and plots: those of the lecture (GAR, FAR, FRR, DIR, CMS) or of "
    "ISO/IEC 19795-1 (FMR, FNMR, FPIR, TPIR). Result files always use the former.",
)

protocol_option = click.option(
    "--protocol",
    default="auto",
    metavar="CARD",
    help="Name of a protocol, or path of a card (.toml); auto: the course's protocol for the "
    "layout.",
)

thresholds_option = click.option(
    "--thresholds",
    type=ThresholdsOption(),
    help="Number of thresholds, the thresholds, or a file with one threshold per line.  [the "
    "card's]",
)

ranks_option = click.option(
    "--max-rank", type=click.IntRange(1), metavar="K", help="Number of ranks."
)

images_option = click.option(
    "--images",
    metavar="NAME",
    help="Metadata column of the image files, relative to DATA; the page shows pictures of the "
    "worst pairs.",
)


def seed_option(help: str, default: int | None = 0) -> Callable[[F], F]:
    """Return the option of the seed."""
    return click.option(
        "--seed", "random_state", type=click.IntRange(0), metavar="N", default=default, help=help
    )


def gallery_options(sampling: str) -> Callable[[F], F]:
    """Return the options of searches in galleries that may be drawn, as `sampling` says."""
    return option_group(
        click.option(
            "--thresholds",
            type=ThresholdsOption(),
            help="Number of thresholds, the thresholds, or a file with one threshold per line.  "
            "[100]",
        ),
        ranks_option,
        click.option(
            "--ties",
            type=click.Choice(["pessimistic", "optimistic", "stable", "expected"]),
            default="pessimistic",
            help="Rank of a mate among subjects with exactly the same score.",
        ),
        click.option(
            "--impostors",
            type=click.Choice(["auto", "unenrolled", "leave-subject-out", "both"]),
            default="auto",
            help="Probes of non-mated searches.",
        ),
        click.option("--sampling", type=click.IntRange(1), metavar="R", help=sampling),
        seed_option("Random seed of the galleries.", default=None),
    )


#: Options of a confidence interval.
interval_options = option_group(
    click.option(
        "--confidence",
        type=float,
        metavar="C",
        default=0.95,
        help="Two-sided confidence of the intervals.",
    ),
    click.option(
        "--replicates",
        type=click.IntRange(100),
        metavar="N",
        default=2000,
        help="Number of bootstrap replicates.",
    ),
    seed_option("Random seed."),
)


#: Intervals of studies in which people are resampled, with the methods that do.
subject_interval_options = option_group(
    click.option(
        "--interval",
        type=click.Choice(
            ["subject-bootstrap", "subject-bootstrap-bca", "subject-bootstrap-logit"]
        ),
        help="Add confidence intervals by subject.  [none]",
    ),
    interval_options,
)


band_option = click.option(
    "--band",
    type=click.Choice(["pointwise", "simultaneous"]),
    default="pointwise",
    show_default=True,
    help="Intervals along a curve hold at each threshold or rank alone, or at all together "
    "(where there are at least five errors and five other attempts).",
)


def require_method(interval: str | None, *, seed_of_draws: bool = False) -> None:
    """Refuse options of an interval that are given without its method.

    With `seed_of_draws` the seed is also that of an experiment.
    """
    context = click.get_current_context()
    for name, option in (
        ("confidence", "--confidence"),
        ("replicates", "--replicates"),
        *([] if seed_of_draws else [("random_state", "--seed")]),
    ):
        if interval is None and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} needs --interval METHOD, such as subject-bootstrap")


# ------------------------------------------------------------------------- warnings


def interval_by_default(scores: Scores, interval: str | None) -> str:
    """Return the given interval, or the one that the scores allow, with a note."""
    from bioeval.cli.console import note
    from bioeval.scores.listed_templates import pattern_of_pairs
    from bioeval.tallies.by_subject import knows_people

    if interval is not None:
        return interval
    if knows_people(scores):
        return "subject-bootstrap"
    note(
        "the subjects of the pairs are not known, so intervals are Wilson's and assume "
        "independent attempts; if names contain the subjects, give --subject-from "
        f"'{pattern_of_pairs(scores)}'"
    )
    return "wilson"


def warnings_of(ds: xr.Dataset) -> list[str]:
    """Return the warnings of a result with the options of the command."""
    return [reword(line) for line in str(ds.attrs["warnings"]).split("\n") if line]


def warning_lines(ds: xr.Dataset, say: Callable[[str], str]) -> list[str]:
    """Return the warnings of a result, in the words of `say`, as the last lines of a text."""
    from bioeval.base.errors import wrapped

    lines = [line for x in warnings_of(ds) for line in wrapped(f"  - {say(x)}", hang=4)]
    return ["", "Warnings", *lines] if lines else []


# ------------------------------------------------------------------------- output


report_option = click.option(
    "--report", metavar="HTML", help="Write an HTML page with the answer and interactive curves."
)


def output_options(
    files: str, plots: str = "", json: str = "", report: bool = False
) -> Callable[[F], F]:
    """Return the output options; `files` and `plots` say in the help what is written."""
    drawing = click.option("--plots", is_flag=True, help=f"With --out: also {plots}.")
    return option_group(
        click.option("--out", metavar="DIR", help=f"Write {files}."),
        click.option(
            "--force",
            is_flag=True,
            help=f"With --out{' or --report' if report else ''}: replace the results of an earlier "
            "run.",
        ),
        *([drawing] if plots else []),
        *([report_option] if report else []),
        json_option(f"Print one JSON document instead of a table{json}."),
    )


def json_option(help: str) -> Callable[[F], F]:
    """Return the option of JSON on standard output."""
    return click.option("--json", "as_json", is_flag=True, help=help)


@dataclass(frozen=True)
class Output:
    """Destinations of the results of a command."""

    folder: Path | None  # of the files; it can be written to
    force: bool  # whether files of the same names are replaced
    plots: bool  # whether plots are among the files
    as_json: bool  # whether a document is printed, in place of a table
    page: Path | None = None  # the page to write; it can be written
    remarks: list[str] = field(default_factory=list)  # of plots that are left out

    @classmethod
    def take(cls, options: dict[str, Any]) -> Output:
        """Remove the output options from a command's, and check them before any computation."""
        out, force = options.pop("out"), options.pop("force")
        plots = options.pop("plots", None)  # without the option, what there is to draw is drawn
        if plots and out is None:
            raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
        from bioeval.cli.outputs import check_folder, check_page

        page = options.pop("report", None)
        folder = None if out is None else check_folder(out, force)
        page = None if page is None else check_page(page, force)
        return cls(folder, force, plots is not False, options.pop("as_json"), page)

    @property
    def documented(self) -> bool:
        """Whether a document is written or printed."""
        return self.folder is not None or self.as_json

    def write(
        self, document: dict[str, Any], fill: Callable[[Path], None], stages: Callable[[str], None]
    ) -> list[str]:
        """Write the files that `fill` makes in a folder, and return their names."""
        if self.folder is None:
            return []
        stages(f"writing to {self.folder}")
        from bioeval.cli.outputs import write_folder

        return write_folder(self.folder, document, fill, self.force)

    def write_page(
        self,
        results: Any,
        files: Iterable[str | None],
        stages: Callable[[str], None],
        **options: Any,
    ) -> None:
        """Write the page of the results of `files` if --report names it."""
        if self.page is None:
            return
        stages(f"writing {self.page}")
        from bioeval.cli.outputs import write_page

        write_page(self.page, results, [file for file in files if file], **options)

    def save(
        self,
        document: dict[str, Any],
        results: xr.Dataset | xr.DataTree | None,
        table: Any,
        stages: Callable[[str], None],
        *,
        name: str = "results.nc",
        csv: Mapping[str, Mapping[str, Iterable[Any]]] | None = None,
        drawn: Any = None,
        overlaid: bool = False,
    ) -> list[str]:
        """Write results of this name, table, CSV files by name, and the plots of `drawn`.

        Return the names of the files.
        """

        def fill(folder: Path) -> None:
            from bioeval.cli.outputs import write_csv, write_results

            write_results(folder, results, table, name)
            for file, columns in (csv or {}).items():
                write_csv(folder / file, columns)
            if drawn is not None and self.plots:
                from bioeval.views.plots.save import save_all

                for one in drawn if isinstance(drawn, list) else [drawn]:
                    save_all(one, (), folder, overlaid=overlaid, tell=self.remarks.append)

        return self.write(document, fill, stages)

    def show(self, table: Any, document: dict[str, Any], files: list[str]) -> None:
        """Print the document or the table (text is printed as it is), then the number of files."""
        from bioeval.cli.console import note, put, show, show_json

        if self.as_json:
            show_json(document)
        elif isinstance(table, str):
            put(table)
        else:
            show(table)
        if self.folder is not None:
            note("\n".join([*self.remarks, f"wrote {len(files)} files to {self.folder}"]))
        if self.page is not None:
            note(f"wrote {self.page}")


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


def read_system(
    file: str, name: str | None, reading: dict[str, Any], stages: Callable[[str], None]
) -> Scores:
    """Return the scores of a file with the name of their system, given or its own."""
    scores = read_scores(file, reading, stages)
    scores.name = system_name(file, name, reading)
    return scores


def _require_mates(scores: Scores, file: Path) -> None:
    """Raise :class:`ProtocolError` where no subject of a square matrix has two templates."""
    if scores.layout != "all-against-all" or not scores.labelled:
        return
    if len(set(scores.codes.gallery.tolist())) == scores.shape[1]:
        from bioeval.scores.formats.format import ReadOptions
        from bioeval.scores.formats.registry import recognise
        from bioeval.scores.listed_templates import EXAMPLE_PATTERN, subject_pattern

        pattern = subject_pattern([*map(str, scores.gallery_labels)])
        advice = (
            "If rows and columns are two sets of templates, genuine on the diagonal, give the "
            f"labels of both: {Argument('probe_labels')} ... {Argument('gallery_labels')} ..."
        )
        named = pattern != EXAMPLE_PATTERN and file.is_file()
        if named and "subject_from" in recognise(file, ReadOptions()).options:
            advice = f"If the labels are names of templates, give --subject-from '{pattern}'"
        raise ProtocolError(
            "no subject has two templates, and a template is not compared with itself: there is no "
            f"genuine attempt. {advice}"
        )
