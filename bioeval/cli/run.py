"""``bioeval run``: evaluate a file."""

from __future__ import annotations

from typing import Any

import click

from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import Numbers, Whole, card, interval_options, thresholds
from bioeval.cli.reading_options import reading, reading_options

HELP = """Evaluate DATA: scores or embeddings, in a .npz, .npy, .csv or .mat file.

Every rate is over the attempts of its own class; the table says how many there are.

\b
Examples:
  bioeval run scores.npz
  bioeval run matrix.npy --kind similarity --labels people.csv
  bioeval run faces.npz --embeddings dlib128 --labels subject --metric l2 --out results --plots
  bioeval run reid.npz --protocol market1501 --per-query
  bioeval run pairs.csv --json
  bioeval run scores.npz --protocol course-kfold
  bioeval run features.mat
  bioeval run features.npz --embeddings x --labels images.txt --names-of market1501
  bioeval run scores.npz --interval subject-bootstrap

KEY names an array in a .npz or .mat file whose arrays have names of their own.
"""


@click.command("run", help=HELP, short_help="Evaluate scores or embeddings.")
@click.argument("data")
@click.option(
    "--protocol",
    default="auto",
    show_default=True,
    metavar="CARD",
    help="Name of a protocol, or path of a card (.toml); auto takes the course's for the layout.",
)
@click.option("--out", metavar="DIR", help="Write results.nc, summary.json, table.txt and curves.")
@click.option("--plots", is_flag=True, help="With --out: also draw the plots.")
@click.option(
    "--plot-format",
    "plot_formats",
    type=click.Choice(["png", "pdf", "svg"]),
    multiple=True,
    help="File format of the plots; repeatable.  [png]",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON document, not a table: rates are fractions, null is what is not defined, "
    'and infinite thresholds are the words "inf" and "-inf".',
)
@reading_options
@click.option(
    "--thresholds",
    "given_thresholds",
    metavar="N|FILE|T,T",
    help="How many, a file with one a line, or the thresholds.  [the card's]",
)
@click.option("--max-rank", type=Whole(1), metavar="K", help="Number of ranks.")
@click.option(
    "--far",
    type=Numbers(),
    multiple=True,
    help="FAR to report FRR and DIR at, as 0.001; repeatable.  [the card's]",
)
@click.option(
    "--interval",
    type=click.Choice(INTERVALS),
    help="Add intervals; subject-bootstrap is the one to take.  [none]",
)
@click.option(
    "--confidence", type=float, metavar="C", help="Of an interval, both sides together.  [0.95]"
)
@click.option(
    "--replicates", type=Whole(100), metavar="N", help="How often to resample subjects.  [2000]"
)
@click.option("--seed", type=Whole(0), metavar="N", help="Of the resampling.  [0]")
@click.option(
    "--per-query",
    is_flag=True,
    help="Re-identification: name the worst queries; with --out write queries.csv, with --json "
    "list them all, the worst first.",
)
@click.option(
    "--no-auc", is_flag=True, help="Leave out AUC, d' and the like: several times faster."
)
def command(
    data: str,
    protocol: str,
    out: str | None,
    plots: bool,
    plot_formats: tuple[str, ...],
    as_json: bool,
    given_thresholds: str | None,
    max_rank: int | None,
    far: tuple[tuple[float, ...], ...],
    no_auc: bool,
    per_query: bool,
    interval: str | None,
    confidence: float | None,
    replicates: int | None,
    seed: int | None,
    **options: Any,
) -> None:
    """Evaluate a file and show, or write, the results."""
    if (plots or plot_formats) and out is None:
        raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
    given = reading(data, options)
    asked = {
        "thresholds": thresholds(given_thresholds),
        "max_rank": max_rank,
        "far_targets": [x for numbers in far for x in numbers] or None,
        "auc": not no_auc,
        "per_query": per_query,
        **interval_options(interval, confidence, replicates, seed),
    }

    protocol = card(protocol)
    from bioeval.cli.console import Stages, note, show, show_json
    from bioeval.cli.fold_outputs import fold_summary, write_folds
    from bioeval.cli.outputs import check_folder, write_results
    from bioeval.cli.reword_errors import rewording
    from bioeval.cli.summary import summary
    from bioeval.cli.worst_queries import worst_first

    folder = None if out is None else check_folder(out)
    from bioeval.evaluation.evaluate import evaluate
    from bioeval.evaluation.reid import apply_convention
    from bioeval.scores.formats import load
    from bioeval.views.tables import ResultTable
    from bioeval.views.tables.folds import FoldTable, has_folds

    with Stages() as tell:
        tell(f"reading {data}")
        scores = load(data, **given)
        tree = evaluate(scores, protocol, **asked, progress=tell.counting)
        in_folds = has_folds(tree)
        document = fold_summary(tree, data) if in_folds else summary(tree, data)
        queries = worst_first(tree["reid"].to_dataset(), scores) if per_query else []
        if in_folds and (plots or plot_formats):
            raise click.UsageError(f"protocol {protocol} has folds, of which there are no plots")
        if folder is not None and in_folds:
            names = write_folds(tree, document, folder)
        elif folder is not None:
            drawn = (plot_formats or ("png",)) if plots or plot_formats else ()
            compared = scores
            if drawn and "reid" in tree.children and scores.layout != "top-k":
                compared = apply_convention(scores, protocol)  # what the results are over
            tell(f"writing {'results and plots' if drawn else 'results'} to {folder}")
            names = write_results(tree, document, folder, compared, drawn, queries)
    if as_json:
        if queries:
            document["tasks"]["reid"]["worst_first"] = queries
        show_json(document)
    else:
        show(FoldTable(tree) if in_folds else ResultTable(tree, rewording("run")))
    if folder is not None:
        note(f"wrote {len(names)} files to {folder}")
