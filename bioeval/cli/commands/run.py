"""``bioeval run``: evaluate a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError, MissingDependencyError
from bioeval.cli.arguments import at_least
from bioeval.cli.card_options import CARD_OPTIONS, resolve, take_card_options, with_gallery
from bioeval.cli.command import Command, option, option_group
from bioeval.cli.conditions import fail_if
from bioeval.cli.shared import EVALUATED, TRIES, TRIES_AND_ENROLMENT, rates, shared
from bioeval.cli.undefined import require_rates

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores
    from bioeval.stats.options import IntervalMethod

#: People and comparisons, at most, of scores that have intervals unless they are refused.
_LIMITED = 1_000, 10_000_000

# Seconds in which the scheduler of a cluster answers.
_PATIENCE = 10


def _connect(ctx: click.Context, param: click.Parameter, address: str | None) -> None:
    """Count on the workers of a cluster while the command runs."""
    if address is None:
        return
    from bioeval.base.distribution import how_to_install
    from bioeval.base.options import set_options

    try:
        from distributed import Client
    except ImportError:
        text = f"--cluster needs distributed: {how_to_install('cluster')}"
        raise MissingDependencyError(text) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # of any class, where something else answers
        text = f"--cluster {address}: no scheduler of a cluster answers within {_PATIENCE} seconds"
        raise DataError(text) from error
    ctx.with_resource(client)
    ctx.with_resource(set_options(client=client))


@click.command("run", cls=Command)
@click.argument("data")
@click.argument("more_files", nargs=-1, metavar="[FILE]...")
@EVALUATED
@option("--max-rank N", "Number of ranks.", int)
@rates("--far X", "FAR at which to report FRR and DIR.", "far_targets")
@rates("--frr X", "FRR at which to report FAR of verification.", "frr_targets")
@option(
    "--interval METHOD",
    "Add confidence intervals; people by default where these are quick.",
    ["people", "subject-bootstrap", "wilson", "clopper-pearson", "none"],
)
@CARD_OPTIONS
@option("--fta X", "Failure-to-acquire rate, to add rates that include it.", float)
@option("--fte X", "Failure-to-enrol rate, to add rates that include it.", float)
@option("--worst N", "List the N worst impostor and genuine pairs.", at_least(1))
@option(
    "--per-query",
    "Re-identification: list the worst queries; all of them with --json and --out.",
    bool,
)
@fail_if("frr_at_far=1% > 20%")
@TRIES_AND_ENROLMENT
@TRIES
@shared(interval=True, plots=True)
@option_group(
    option(
        "--cluster ADDRESS",
        "Count large matrices, and embeddings, on the workers of this scheduler of "
        "dask.distributed, such as tcp://10.0.0.5:8786.",
        name="client",
        callback=_connect,
        expose_value=False,
    ),
    option("--no-auc", "Leave out AUC, d' and similar measures: several times faster.", bool),
    heading="Size and speed",
)
def run_command(
    run: Run,
    data: str,
    protocol: str,
    no_auc: bool,
    more_files: tuple[str, ...] = (),
    interval: str | None = None,
    worst: int | None = None,
    tries: int | None = None,
    **options: Any,
) -> None:
    """Evaluate verification, identification or re-identification of DATA, scores or embeddings.

    bioeval run scores.npz --interval people --out results --plots
    bioeval run matrix.npy --kind similarity --labels people.csv
    bioeval run features.mat --protocol market1501

    `bioeval convert --list` lists the formats: .npz, .npy, .csv, .mat, .h5, .parquet and
    more. FRR is a proportion of the genuine attempts, FAR of the impostor attempts; the table gives
    the number of each. Further files that hold scores with their labels, and with --trials further
    lists of scores, are further systems, whose plots are also drawn together; else FILE is the
    mask, labels, impostor scores, trials or pairs of DATA.
    """
    from bioeval.cli.commands.run_outputs import Evaluation, finish

    options["auc"] = not no_auc
    if "min_dcf" in options and no_auc:
        raise click.UsageError("--min-dcf needs every impostor score; leave out --no-auc")
    if tries is not None and not options.get("thresholds"):
        raise click.UsageError("--tries needs the thresholds that it is about: --thresholds T,T")
    files, second = _systems_and_second(data, more_files, run.reading["trials"])
    if len(files) > 1 and run.given_name is not None:
        raise click.UsageError(f"--name is for one system; there are {len(files)}")
    given = take_card_options(options, run.settings["random_state"])
    if not {"attempts", "enrol"} & run.use.keys():  # else claims, which have one score for each
        given, run.use = given | run.use, {}
    if run.page is not None:  # all tasks share their thresholds there
        options["extra_thresholds"] = ()
    names = run.names(files) if len(files) > 1 else [None]
    evaluations = []
    for file, name in zip(files, names, strict=True):
        scores = run.read(file, second, name)
        as_read = run.as_read
        divided = with_gallery(protocol, scores, of_system := dict(given))
        if divided is not scores:
            scores = as_read = divided
        card = resolve(protocol, scores, of_system)
        method = interval or ("people" if _has_limits(scores, card) else "none")
        limits = run.interval(None if method == "none" else method)
        tree = _evaluated(run, scores, card, limits, options)
        evaluation = Evaluation(tree, scores, card, file, run, options["per_query"])
        evaluation.check_data(as_read, protocol)
        if worst is not None:
            run.stages("listing the worst pairs")
            evaluation.list_pairs(as_read, worst)
        if tries is not None:
            run.stages("pooling tries")
            evaluation.add_tries(options["thresholds"], tries, run.settings["confidence"])
        evaluations.append(evaluation)
    finish(run, evaluations)


def _systems_and_second(
    data: str, more: tuple[str, ...], trials: str | None
) -> tuple[list[str], str | None]:
    """Return the files of the systems, and the second file of the only one.

    Lists of scores of the same `trials` are systems, too.
    """
    from bioeval.scores.formats.reading import holds_labels, role_of_second_file

    files = [data, *more]
    if len(files) == 1 or all(map(holds_labels, files)):
        return files, None
    if trials is not None:
        roles = {role_of_second_file(Path(data), Path(file)) for file in more}
        if roles == {"trials"}:
            return files, None
    if len(files) > 2:
        text = "several systems need files that hold scores with their labels, such as .npz"
        without = next(file for file in files if not holds_labels(file))
        raise click.UsageError(f"{text}; {without} does not")
    return [data], files[1]


def _has_curves(scores: Scores, card: Any) -> bool:
    """Whether rates over thresholds are counted that may have further rows."""
    from bioeval.tasks.plan import galleries_of, resolve_card

    resolved = resolve_card(scores, card)
    if resolved.has_folds or resolved.reid is not None or resolved.gom is not None:
        return False
    searched = resolved.open_set
    return galleries_of(scores, resolved) is None and (
        searched is None or searched.gallery == "all"
    )


def _has_limits(scores: Scores, card: Any) -> bool:
    """Whether intervals are computed that nobody asked for."""
    from bioeval.scores.people import knows_people
    from bioeval.tasks.plan import resolve_card

    most_people, most_comparisons = _LIMITED
    if scores.layout == "top-k" or not knows_people(scores) or resolve_card(scores, card).has_folds:
        return False
    return len(scores.subjects) <= most_people and math.prod(scores.shape) <= most_comparisons


def _evaluated(
    run: Run, scores: Scores, card: Any, interval: IntervalMethod | None, given: dict[str, Any]
) -> xr.DataTree:
    """Return the results of scores under a card."""
    from bioeval.counting.thresholds import check_thresholds
    from bioeval.evaluation import evaluate
    from bioeval.results.failures import with_failures
    from bioeval.views.tasks import with_asked_thresholds

    options = dict(given)
    asked = options.get("thresholds")
    failures = {name: options.pop(name, 0.0) for name in ("fta", "fte")}
    besides = asked is not None and _has_curves(scores, card)
    if besides:  # rows besides those of the curves, which plots draw
        options["extra_thresholds"] = check_thresholds(options.pop("thresholds"))
    tree = evaluate(scores, card, interval=interval, **options)
    run.stages("checking the scores")
    if besides and asked is not None:
        tree = with_asked_thresholds(tree, asked)
    require_rates(tree, scores, card, asked is not None)
    return with_failures(tree, **failures) if any(failures.values()) else tree
