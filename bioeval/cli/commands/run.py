"""``bioeval run``: evaluate a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError, MissingDependencyError
from bioeval.cli.calls import options_of
from bioeval.cli.card_options import CARD_OPTIONS, resolve, take_card_options
from bioeval.cli.command import Command, naming, option, option_group, progress_shown
from bioeval.cli.commands.check import Findings
from bioeval.cli.commands.worst_pairs import ListedPairs
from bioeval.cli.options import (
    read_scores,
    require_method,
    shared_options,
    system_name,
    take_interval,
    take_reading,
)
from bioeval.cli.outputs import Output
from bioeval.cli.study_command import checked
from bioeval.cli.use import TRIES_AND_ENROLMENT, scores_in_use, take_use

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.progress import Stages
    from bioeval.scores.matrix import Scores


#: What else a run can give: findings of the check of data, and the worst pairs.
_FURTHER = (Findings, ListedPairs)


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
@options_of("evaluate", "protocol", "thresholds", "max_rank", "far_targets", "frr_targets")
@options_of("evaluate", "interval")
@option_group(*(entry.option for entry in CARD_OPTIONS))
@options_of("with_failures", "fta", "fte", fta={"default": None}, fte={"default": None})
@option_group(*(option for more in _FURTHER for option in more.add_options))
@option(
    "--per-query",
    "Re-identification: list the worst queries; all of them with --json and --out.",
    bool,
)
@TRIES_AND_ENROLMENT
@shared_options(interval=True, plots=True)
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
def command(
    data: str,
    more_files: tuple[str, ...],
    protocol: str,
    name: str | None,
    terms: str,
    **options: Any,
) -> None:
    """Evaluate verification, identification or re-identification of DATA, scores or embeddings.

    `bioeval convert --list` lists the formats: .npz, .npy, .csv, .mat, .h5, .parquet and
    more. FRR is a proportion of the genuine attempts, FAR of the impostor attempts; the table gives
    the number of each. Further files that hold scores with their labels, and with --trials further
    lists of scores, are further systems, whose plots are also drawn together; else FILE is the
    mask, labels, impostor scores, trials or pairs of DATA.

    KEY names an array in a file that has several arrays, such as .npz or .mat.
    """
    options["auc"] = not options.pop("no_auc")
    systems, second = _systems_and_second(data, more_files, options["trials"])
    twice = next((file for file in systems if systems.count(file) > 1), None)
    if twice is not None:
        raise click.UsageError(f"{twice} is given twice; each system is a file of its own")
    if len(systems) > 1 and name is not None:
        raise click.UsageError(f"--name is for one system; there are {len(systems)}")
    failures = {name: options.pop(name) or 0.0 for name in ("fta", "fte")}
    given_options = take_card_options(options)
    use = take_use(options)
    if use:  # claims, which have one score for each
        use |= {x: given_options.pop(x) for x in ("templates", "fusion") if x in given_options}
    of_tasks = {"templates", "rank_unit", "fusion", "seed"}
    require_method(options["interval"], seed_of_draws=not given_options.keys() <= of_tasks)
    take_interval(options, options["interval"])
    output = Output.take(options)
    # On a page all tasks share their thresholds.
    if output.page is not None:
        options["extra_thresholds"] = ()
    evaluations = []
    with progress_shown() as stages:
        from bioeval.cli.commands.run_outputs import Evaluation, Evaluations

        for file, called in zip(systems, _names(systems, name), strict=True):
            of_file = {**options, "second": second}
            more = [add(of_file, file, output) for add in _FURTHER]
            reading = take_reading(file, of_file)
            scores = read_scores(file, reading, stages)
            scores = scores.replace(name=called or system_name(file, None, reading))
            as_read, scores = scores, scores_in_use(scores, use, fuses=False)
            for one in more:
                one.require(as_read)
            resolved = resolve(protocol, scores, given_options)
            tree = _evaluated(scores, resolved, of_file, failures, stages)
            per_query = of_file["per_query"]
            evaluation = Evaluation(tree, scores, protocol, file, per_query, naming(), terms, more)
            for one in more:
                one.stages = stages
                one.make(as_read, protocol, resolved)
            evaluations.append(evaluation)
        together = Evaluations(evaluations)
        formats = output.formats if output.plots else ()
        document = together.document() if output.documented else {}
        tell = output.remarks.append
        files = output.write(document, lambda folder: together.write(folder, formats, tell), stages)
        page_options: dict[str, Any] = {}
        for further in together.more:
            page_options |= further.page_options
        output.write_page(together.shown_by_name(), [*systems, second], stages, **page_options)
    if document:
        together.add_queries(document)
    table = together.table(for_paper=output.markup is not None)
    output.show(table, document, files)


def _systems_and_second(
    data: str, more: tuple[str, ...], trials: str | None
) -> tuple[list[str], str | None]:
    """Return the files of the systems, and the second file of the only one.

    Lists of scores of the same `trials` are systems, too.
    """
    from bioeval.scores.formats.registry import holds_labels, role_of_second_file

    files = [data, *more]
    if len(files) == 1:
        return files, None
    if all(map(holds_labels, files)):
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


def _names(systems: list[str], name: str | None) -> list[str | None]:
    """Return the names of systems: None for that of the file, the path where files share one."""
    if name is not None:
        return [name]
    stems = [Path(file).stem for file in systems]
    return [None if stems.count(Path(file).stem) == 1 else file for file in systems]


def _evaluated(
    scores: Scores,
    card: Any,
    options: dict[str, Any],
    failures: dict[str, float],
    stages: Stages,
) -> xr.DataTree:
    """Return the results of scores under a card."""
    from bioeval.evaluation import evaluate

    stages("counting")
    tree = evaluate(scores, card, **options)
    stages("checking the scores")
    tree = checked(tree, scores, card, options["thresholds"] is not None)
    if any(failures.values()):
        from bioeval.results.failures import with_failures

        tree = with_failures(tree, **failures)
    return tree
