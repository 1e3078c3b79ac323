"""``bioeval run``: evaluate a file."""

from __future__ import annotations

import itertools
from typing import Any

import click

from bioeval.base.studies import hooks
from bioeval.base.variables import INTERVALS
from bioeval.cli.card_options import CARD_OPTIONS, resolve, take_card_options
from bioeval.cli.cluster_options import executor_from_options
from bioeval.cli.command import Command, naming, option, option_group, progress_shown
from bioeval.cli.options import (
    output_options,
    read_scores,
    require_method,
    shared_options,
    system_name,
    take_reading,
)
from bioeval.cli.outputs import Output
from bioeval.cli.study_command import checked


@click.command("run", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@output_options(
    "results.nc, summary.json, table.txt and curves",
    "draw the plots",
    " instead of a table: rates are fractions, undefined values are null, and infinite "
    'thresholds are the words "inf" and "-inf"',
)
@option(
    "--plot-format",
    "File format of the plots; repeatable.  [png]",
    ["png", "pdf", "svg"],
    multiple=True,
    name="plot_formats",
)
@shared_options(
    protocol=True,
    thresholds=True,
    max_rank=True,
    far=True,
    frr=True,
    interval=True,
    band=True,
    name=True,
    reading=True,
    workers=True,
    checkpoint=True,
)
@option_group(*(entry.option for entry in CARD_OPTIONS))
@option(
    "--interval METHOD",
    "Add confidence intervals: subject-bootstrap (recommended), subject-bootstrap-bca, "
    "subject-bootstrap-logit, analytic, wilson or clopper-pearson.  [none]",
    INTERVALS,
)
@option(
    "--fta P",
    "Verification: add rates that include this failure-to-acquire rate (ISO/IEC 19795-1).  [0]",
    float,
)
@option("--fte P", "Verification: add rates that include this failure-to-enrol rate.  [0]", float)
@option(
    "--per-query",
    "Re-identification: list the worst queries. With --out, write queries.csv; with --json, "
    "list all queries, the worst first.",
    bool,
)
@option_group(*itertools.chain.from_iterable(more.add_options for more in hooks("run_outputs")))
@option("--no-auc", "Leave out AUC, d' and similar measures: several times faster.", bool)
def command(
    data: str,
    protocol: str,
    name: str | None,
    terms: str,
    plot_formats: tuple[str, ...],
    **options: Any,
) -> None:
    """Evaluate DATA: scores or embeddings in a file, a zarr store or a web address.

    `bioeval convert --list` lists the formats: .npz, .npy, .csv, .mat, .h5, .zarr, .parquet and
    more. FRR is a proportion of the genuine attempts, FAR of the impostor attempts; the table gives
    the number of each.

    KEY names an array in a file that has several arrays, such as .npz or .mat.
    """
    options["auc"] = not options.pop("no_auc")
    options["plots"] = options["plots"] or bool(plot_formats)
    failures = {name: options.pop(name) or 0.0 for name in ("fta", "fte")}
    given_options = take_card_options(options)
    of_tasks = {"templates", "rank_unit", "fusion", "seed"}
    require_method(options["interval"], seed_of_draws=not given_options.keys() <= of_tasks)
    output = Output.take(options)
    more = [add(options, data, output) for add in hooks("run_outputs")]
    read = [data, options.get("second")]
    reading = take_reading(data, options)
    with progress_shown() as stages:
        from bioeval.cli.run_outputs import Evaluation
        from bioeval.evaluation.all_tasks import evaluate

        scores = read_scores(data, reading, stages).replace(name=system_name(data, name, reading))
        for one in more:
            one.require(scores)
        resolved = resolve(protocol, scores.layout, given_options)
        stages("counting")
        # On a page all tasks share their thresholds; a checkpoint is the same with or without it.
        if output.page is not None and options["checkpoint"] is None:
            options["extra_thresholds"] = ()
        with executor_from_options(options, stages, scores) as place:
            tree = evaluate(scores, resolved, **options, **place, progress=stages.counting)
        stages("checking the scores")
        tree = checked(tree, scores, resolved, stages, options["thresholds"] is not None)
        if any(failures.values()):
            from bioeval.results.failures import with_failures

            tree = with_failures(tree, **failures)
        per_query = options["per_query"]
        evaluation = Evaluation(tree, scores, protocol, data, per_query, naming(), terms, more)
        for one in more:
            one.stages = stages
            one.make(scores, protocol, resolved)
        formats = (plot_formats or ("png",)) if output.plots else ()
        document = evaluation.document() if output.documented else {}
        tell = output.remarks.append
        files = output.write(
            document, lambda folder: evaluation.write(folder, formats, tell), stages
        )
        page_options: dict[str, Any] = {}
        for one in more:
            page_options |= one.page_options
        output.write_page(evaluation.shown_by_name(), read, stages, **page_options)
    if evaluation.queries and document:
        document["tasks"]["reid"]["worst_first"] = evaluation.queries
    output.show(evaluation.table(), document, files)
