"""``bioeval compare``: two systems over the same data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.kinds import KINDS
from bioeval.cli.arguments import card
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.command import Command, option, progress_shown, reword
from bioeval.cli.options import (
    far_option,
    frr_option,
    interval_options,
    margin_option,
    output_options,
    read_scores,
    reading_options,
    take_reading,
    templates_option,
    terms_option,
)
from bioeval.cli.outputs import Output
from bioeval.cli.study_command import as_columns, require_values

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores

# Options that may differ between the systems.
_OF_B = ("kind", "scores", "embeddings", "gallery_embeddings", "metric")

# Options of the array of A without meaning for that of B, where B has the other kind of array.
_APART = {"scores": ("embeddings", "gallery_embeddings", "metric"), "embeddings": ("scores",)}


@click.command("compare", cls=Command)
@click.argument("a")
@click.argument("b")
@output_options(
    "comparison.nc, summary.json, table.txt and comparison.csv",
    "draw each curve of both systems",
    report=True,
)
@option("--name NAME", "Name of A.  [the file's name]")
@option("--name-b NAME", "Name of B.  [the file's name]")
@reading_options
@option("--kind-b", "Kind of the scores of B.  [as for A]", KINDS)
@option("--scores-b KEY", "Array of scores of B.  [as for A]")
@option("--embeddings-b KEY", "Array of embeddings of B.  [as for A]")
@option(
    "--gallery-embeddings-b KEY|NPY",
    "Array or .npy file of the gallery's embeddings of B.  [as for A]",
)
@option("--metric-b M", "Metric between embeddings of B.  [as for A]")
@option(
    "--protocol CARD",
    "Compare mAP, CMC and the other measures of re-identification under this convention (name or "
    "path of a card).",
)
@templates_option
@terms_option
@far_option
@frr_option
@interval_options
@cluster_options()
@option(
    "--adjust",
    "Adjust the tests for the number of measures, by Holm's method.",
    ["none", "holm"],
    "none",
)
@margin_option("A is worse than B")
def command(
    a: str, b: str, name: str | None, name_b: str | None, terms: str, **options: Any
) -> None:
    """Compare systems A and B on the same templates in the same order.

    A and B are files as `bioeval run` reads them. They may be the same file if --scores and
    --scores-b name different arrays in it. Options of A apply to B as well, unless the option for B
    is given. Both systems are resampled together by subject, and each line of the table says
    whether they differ.
    """
    output = Output.take(options)
    of_b = {what: value for what in _OF_B if (value := options.pop(f"{what}_b")) is not None}
    not_of_b = {what for other, apart in _APART.items() if other in of_b for what in apart}
    all_of_b = {what: None if what in not_of_b else v for what, v in options.items()} | of_b
    systems = [
        (
            file,
            given or (own["scores"] or own["embeddings"] if a == b else None),
            take_reading(file, own),
        )
        for file, given, own in ((a, name, options), (b, name_b, all_of_b))
    ]
    with progress_shown() as stages:
        from bioeval.studies.compare.compare import compare
        from bioeval.tallies.points import FAR_TARGETS
        from bioeval.views import in_terms
        from bioeval.views.tables import table_of

        if options["protocol"] is not None:
            options["protocol"] = card(options["protocol"])
        options["far_targets"] = options["far_targets"] or FAR_TARGETS
        options["frr_targets"] = options["frr_targets"] or ()
        read = []
        for file, called, reading in systems:
            scores = read_scores(file, reading, stages)
            scores.name = called or Path(file).stem
            read.append(scores)
        stages("counting")
        with executor_from_options(options, stages, *read) as place:
            found = compare(read[0], read[1], **options, **place, progress=stages.counting)
            values = [found["value_a"], found["value_b"]]
            require_values(values, read, options["protocol"] or "auto")
            curves = {}
            if output.plots or output.page is not None:
                names = (str(found.attrs[f"system_{x}"]) for x in "ab")
                names_kept = "protocol", "templates", "far_targets", "frr_targets"
                kept = {key: options[key] for key in names_kept}
                kept |= {"client": place.get("client"), "progress": stages.counting}
                extra = None if output.page is None else ()
                trees = _curves(dict(zip(names, read, strict=True)), **kept, extra_thresholds=extra)
                each = {name: tree.copy() for name, tree in trees.children.items()}
                curves = {name: in_terms(tree, terms) for name, tree in each.items()}
        document = _document(found, a, b)
        shown = in_terms(found, terms)
        table = table_of(shown, reword)
        csv = {"comparison.csv": as_columns(document["measures"])}
        files = output.save(
            document, found, table, stages,
            name="comparison.nc", csv=csv, drawn=curves or None, overlaid=True,
        )  # fmt: skip
        output.write_page({" and ".join(curves): shown, **curves}, [a, b], stages)
    output.show(table, document, files)


def _curves(
    systems: dict[str, Scores],
    protocol: str | Protocol | None,
    templates: str,
    far_targets: Sequence[float],
    frr_targets: Sequence[float],
    **options: Any,
) -> xr.DataTree:
    """Return the results of systems whose curves are drawn: those of the compared tasks."""
    from bioeval.evaluation.evaluate import evaluate
    from bioeval.protocol import for_layout

    if protocol is not None:
        return evaluate(systems, protocol, **options)
    scores = next(iter(systems.values()))
    card = for_layout(scores.layout, "auto")
    assert card.verification is not None
    verification = replace(card.verification, templates=(templates,))
    card = replace(card, name="", verification=verification)  # no longer the card of that name
    if scores.kind == "order":
        return evaluate(systems, replace(card, verification=None, open_set=None), **options)
    options |= {"far_targets": far_targets, "frr_targets": frr_targets}
    return evaluate(systems, card, auc=False, **options)


def _document(found: xr.Dataset, a: str, b: str) -> dict[str, Any]:
    """Return the comparison as one document."""
    attrs = {
        key: value
        for key, value in found.attrs.items()
        if key not in ("conclusions", "verdicts", "warnings", "bioeval_version")
    }
    said = {key: str(found.attrs[f"{key}s"]).splitlines() for key in ("conclusion", "verdict")}
    return {
        "bioeval": found.attrs["bioeval_version"],
        "file_a": a,
        "file_b": b,
        **attrs,
        "measures": [
            {
                "measure": measure,
                **{name: found[name].values.tolist()[i] for name in found.data_vars},
                **{key: lines[i] for key, lines in said.items()},
            }
            for i, measure in enumerate(found["measure"].values.tolist())
        ],
        "warnings": str(found.attrs["warnings"]).splitlines(),
    }
