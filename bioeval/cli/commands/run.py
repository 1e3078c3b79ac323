"""``bioeval run``: evaluate a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError, MissingDependencyError
from bioeval.cli.arguments import at_least
from bioeval.cli.card_options import CARD_OPTIONS, resolve, take_card_options, with_gallery
from bioeval.cli.command import option, option_group
from bioeval.cli.shared import DATA, EVALUATED, TRIES_AND_ENROLMENT, rates, shared
from bioeval.cli.signatures import option_of
from bioeval.cli.undefined import require_rates

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores
    from bioeval.studies.check import Finding

#: Queries that are listed, those with the lowest average precision.
_WORST = 10

_OF_FINDING = ("check", "severity", "code", "message")

# Seconds in which the scheduler of a cluster answers.
_PATIENCE = 10


def _connect(ctx: click.Context, param: click.Parameter, address: str | None) -> None:
    if address is None:
        return
    from bioeval.base.environment import how_to_install
    from bioeval.base.options import set_options

    try:
        from distributed import Client
    except ImportError:
        text = f"--cluster needs distributed: {how_to_install('cluster')}"
        raise MissingDependencyError(text) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # another server may cause an error of any class
        text = f"--cluster {address}: no scheduler of a cluster answers within {_PATIENCE} seconds"
        raise DataError(text) from error
    ctx.with_resource(client)
    ctx.with_resource(set_options(client=client))


@DATA
@EVALUATED
@option_of("evaluate", "--max-rank N")
@rates("evaluate", "far_targets", "frr_targets")
@option_of(
    "evaluate",
    "--interval METHOD",
    ["people", "subject-bootstrap", "wilson", "clopper-pearson", "none"],
    more="; people by default where these are quick.",
)
@CARD_OPTIONS
@option_of("with_failures", "--fta X", default=None)
@option_of("with_failures", "--fte X", default=None)
@option("--worst N", "List the N worst impostor and genuine pairs.", at_least(1))
@option(
    "--per-query",
    "Re-identification: list the worst queries; all of them with --json and --out.",
    bool,
)
@TRIES_AND_ENROLMENT
@shared(interval=True, plots=True, fails=("frr_at_far=1% > 20%",))
@option_group(
    option_of(
        "set_options",
        "--cluster ADDRESS",
        more=". The address is its scheduler's, such as tcp://10.0.0.5:8786.",
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
    second: str | None = None,
    interval: str | None = None,
    worst: int | None = None,
    **options: Any,
) -> None:
    """Evaluate verification, identification or re-identification of DATA, scores or embeddings.

    bioeval run scores.npz --interval people --out results --plots
    bioeval run matrix.npy --kind similarity --labels people.csv
    bioeval run features.mat --protocol market1501

    `bioeval convert --list` lists the formats: .npz, .npy, .csv, .mat, .h5, .parquet and
    more. FRR is a proportion of the genuine attempts, FAR of the impostor attempts; the table gives
    the number of each. FILE is the mask, labels, impostor scores, trials or pairs of DATA. Several
    systems are for `bioeval compare`, or for `bioeval report`.
    """
    import xarray as xr

    from bioeval.counting.thresholds import check_thresholds
    from bioeval.evaluation import evaluate
    from bioeval.results.failures import with_failures
    from bioeval.scores.people import has_quick_limits
    from bioeval.showing.rows import with_asked_thresholds
    from bioeval.tasks.card_scores import compared, galleries_of, resolve_card

    options["auc"] = not no_auc
    if "min_dcf" in options and no_auc:
        raise click.UsageError("--min-dcf needs every impostor score; leave out --no-auc")
    if run.page is not None:  # all tasks share their thresholds there
        options["extra_thresholds"] = ()
    card_options = take_card_options(options, run.settings["random_state"]) | run.take_use()
    as_read, scores = run.read_system(data, second)
    divided = with_gallery(protocol, scores, card_options)
    if divided is not scores:
        scores = as_read = divided
    card = resolve(protocol, scores, card_options)
    resolved = resolve_card(scores, card)
    is_quick = has_quick_limits(scores) and not resolved.has_folds
    method = interval or ("people" if is_quick else "none")

    thresholds = options.get("thresholds")
    failures = {name: options.pop(name, 0.0) for name in ("fta", "fte")}
    searched = resolved.open_set
    has_curves = not (
        resolved.has_folds
        or {"reid", "gom"} & resolved.tasks.keys()
        or (searched is not None and searched.gallery != "all")
    )
    if thresholds is not None and has_curves and galleries_of(scores, resolved) is None:
        # Rows besides those of the curves, which plots draw.
        options["extra_thresholds"] = check_thresholds(options.pop("thresholds"))
    limits = run.interval(None if method == "none" else method)
    tree = evaluate(scores, card, interval=limits, **options)
    run.stages("checking the scores")
    if thresholds is not None:
        tree = with_asked_thresholds(tree, thresholds)
    require_rates(tree, scores, card, thresholds is not None)
    if any(failures.values()):
        tree = with_failures(tree, **failures)
    if worst is not None:
        from bioeval.studies.worst_pairs import worst_pairs

        run.stages("listing the worst pairs")
        listed = worst_pairs(compared(as_read, resolved), worst)
        tree = tree.assign(worst_pairs=xr.DataTree(listed))

    findings = _findings(as_read, protocol)
    lines = [*_lines_of(findings)]
    records: dict[str, list[dict[str, Any]]] = {}
    records["check"] = [{x: getattr(finding, x) for x in _OF_FINDING} for finding in findings]
    if options["per_query"]:
        queries = records["queries"] = _queries(tree["reid"].to_dataset(), scores)
        words = (f"{x['query']} ({x.get('template', x['label'])})" for x in queries[:_WORST])
        lines.append(f"Worst queries (rows, from 0): {', '.join(words)}")

    def draw(folder: Path) -> None:
        from bioeval.tasks.plotted_scores import plotted

        # Plots show the scores that the card keeps, as the results do.
        kept = scores if scores.layout == "top-k" else compared(scores, resolved)
        run.draw(tree, folder, plotted(kept))

    run.finish(tree, records=records, lines=lines, draw=draw)


def _lines_of(findings: list[Finding]) -> Iterator[str]:
    for finding in findings:
        if finding.check == "sentinels":
            yield f"Scores: {finding.message}"
        if finding.check == "labels" and finding.severity == "warning":
            yield f"Labels: {finding.message} ({finding.where})"
    # The tables show what the people do not support.
    named = [x.check for x in findings if x.check not in ("people", "sentinels")]
    if named:
        yield f"bioeval check explains findings on labels and metadata: {', '.join(named)}"


def _queries(reid: xr.Dataset, scores: Scores) -> list[dict[str, Any]]:
    """Return the values of queries by rising average precision; undefined precision comes last."""
    import pandas as pd

    from bioeval.showing.data import rows_of

    columns: dict[Any, Any] = {"query": reid["probe"].values, "label": scores.probe_labels}
    columns |= scores.probe_meta
    of_queries = {name: x.values for name, x in reid.data_vars.items() if x.dims == ("probe",)}
    names = ("average_precision", "rank_k_average_precision")  # the latter of top-K lists
    precision = next(name for name in names if name in reid)
    return rows_of(
        pd.DataFrame({**columns, **of_queries, **columns}).sort_values(precision, kind="stable")
    )


def _findings(scores: Scores, protocol: str) -> list[Finding]:
    """Return the findings on labels and metadata, under the card without its options."""
    from bioeval.studies.check import check_data, sampled_codes

    if scores.layout == "top-k":
        return []
    checked = check_data(scores, protocol, read_scores=False)
    findings = checked.with_severity("error", "warning", "note")
    codes = sampled_codes(scores)
    return findings if codes.severity == "ok" else [*findings, codes]
