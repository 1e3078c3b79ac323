"""``bioeval run``: evaluate a file."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import Numbers, Whole, card, labels, metadata, thresholds

HELP = """Evaluate DATA: scores or embeddings, in a .npz, .npy, .csv or .mat file.

Every rate is over the attempts of its own class; the table says how many there are.

\b
Examples:
  bioeval run scores.npz
  bioeval run matrix.npy --kind similarity --labels people.csv
  bioeval run faces.npz --embeddings dlib128 --labels subject --metric l2 --out results --plots
  bioeval run reid.npz --scores distmat --probe-labels q_pids --gallery-labels g_pids
  bioeval run pairs.csv --json
  bioeval run features.mat
  bioeval run features.npz --embeddings x --labels images.txt --names-of market1501

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
@click.option(
    "--kind",
    type=click.Choice(["distance", "similarity", "order"]),
    help="What the scores are.  [what the file says, else distance]",
)
@click.option(
    "--nan",
    type=click.Choice(["raise", "reject", "exclude"]),
    help="What a failed comparison (NaN) means.  [what the file says, else raise]",
)
@click.option("--scores", metavar="KEY", help="Array of scores.")
@click.option("--genuine", metavar="KEY", help="Array of 0 and 1 beside a list of scores.")
@click.option("--embeddings", metavar="KEY", help="Array of embeddings, one a row.")
@click.option(
    "--gallery-embeddings",
    metavar="KEY|NPY",
    help="Array, or beside a .npy file another one, of the gallery's embeddings.",
)
@click.option("--indices", metavar="KEY", help="Array of top-K lists: gallery entries a query.")
@click.option(
    "--first-index",
    type=click.IntRange(0, 1),
    help="How top-K lists number the first gallery entry.",
)
@click.option(
    "--metric",
    metavar="M",
    help="How to compare embeddings: cosine, l2, l1, linf, bhattacharyya.  [cosine]",
)
@click.option(
    "--labels",
    "both_labels",
    metavar="KEY|CSV",
    help="Subjects of the templates that stand on both sides.",
)
@click.option("--probe-labels", metavar="KEY|CSV", help="Subjects of the rows.")
@click.option("--gallery-labels", metavar="KEY|CSV", help="Subjects of the columns.")
@click.option(
    "--names-of",
    metavar="DATASET",
    help="The labels are names of images: market1501, dukemtmc-reid, msmt17, veri776, vehicleid; "
    "or label-xml lists.",
)
@click.option("--mask", metavar="KEY", help="Array of 0 ignore, 1 impostor, 2 genuine.")
@click.option(
    "--meta",
    multiple=True,
    metavar="NAME=KEY",
    help="Metadata, as camera=KEY, or probe_camera=KEY and gallery_camera=KEY; repeatable.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="NAME",
    help="Leave out pairs of one subject that agree in this metadata column, as session; "
    "repeatable.",
)
@click.option("--pairs", metavar="KEY", help="Array of pairs to evaluate: index a, index b, same.")
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
    "--no-auc", is_flag=True, help="Leave out AUC, d' and the like: several times faster."
)
def command(
    data: str,
    protocol: str,
    out: str | None,
    plots: bool,
    plot_formats: tuple[str, ...],
    as_json: bool,
    both_labels: str | None,
    probe_labels: str | None,
    gallery_labels: str | None,
    meta: tuple[str, ...],
    exclude: tuple[str, ...],
    given_thresholds: str | None,
    max_rank: int | None,
    far: tuple[tuple[float, ...], ...],
    no_auc: bool,
    **options: Any,
) -> None:
    """Evaluate a file and show, or write, the results."""
    if (plots or plot_formats) and out is None:
        raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
    reading = {
        **{name: options[name] for name in ("kind", "nan", "metric", "names_of", "first_index")},
        **{
            f"{name}_key": options[name]
            for name in ("scores", "genuine", "embeddings", "indices", "mask", "pairs")
        },
        **labels("gallery_embeddings", options["gallery_embeddings"], data),
        **labels("labels", both_labels, data),
        **labels("probe_labels", probe_labels, data),
        **labels("gallery_labels", gallery_labels, data),
        "meta": metadata(meta),
        "exclude": exclude,
    }
    asked = {
        "thresholds": thresholds(given_thresholds),
        "max_rank": max_rank,
        "far_targets": [x for numbers in far for x in numbers] or None,
        "auc": not no_auc,
    }

    protocol = card(protocol)
    from bioeval.cli.console import Stages, note, show, show_json
    from bioeval.cli.outputs import check_folder, write_results
    from bioeval.cli.summary import summary
    from bioeval.cli.words import rewording

    folder = None if out is None else check_folder(out)
    from bioeval.formats import load
    from bioeval.pipeline import evaluate
    from bioeval.tables import ResultTable

    with Stages() as tell:
        tell(f"reading {data}")
        scores = load(data, **reading)
        tree = evaluate(scores, protocol, **asked, progress=tell.counting)
        document = summary(tree, data)
        if folder is not None:
            drawn = (plot_formats or ("png",)) if plots or plot_formats else ()
            tell(f"writing {'results and plots' if drawn else 'results'} to {folder}")
            names = write_results(tree, document, folder, scores, drawn)
    if as_json:
        show_json(document)
    else:
        show(ResultTable(tree, rewording("run")))
    if folder is not None:
        note(f"wrote {len(names)} files to {folder}")
