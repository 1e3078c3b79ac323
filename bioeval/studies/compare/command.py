"""``bioeval compare``: two systems over the same data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from bioeval import BioevalError
from bioeval.base import Kind
from bioeval.cli import (
    Command,
    MoreResults,
    StudyCommand,
    Value,
    option,
    output_options,
    shared_options,
)

if TYPE_CHECKING:
    import xarray as xr

    from bioeval import Protocol, Scores


# Options that may differ between the systems.
_OF_B = ("kind", "scores", "embeddings", "gallery_embeddings", "metric")

# Options of the array of A without meaning for that of B, where B has the other kind of array.
_APART = {"scores": ("embeddings", "gallery_embeddings", "metric"), "embeddings": ("scores",)}


def _margin(text: str) -> tuple[str, float]:
    """Return the name of a measure, empty for all measures, and its margin."""
    name, _, number = text.rpartition("=")
    (margin,) = Value.NUMBERS.read(number)
    return name, margin


def _margin_option(statement: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option of the margins of a comparison that tests whether `what`."""
    return option(
        "--margin X",
        f"Difference that does not matter, set beforehand: test whether {statement} by less "
        "than X or not at all, and whether both differ by less than X (equivalent). 0.01 is 1 "
        "percentage point, of all measures; frr_at_far=0.01 of one; repeatable.",
        Value("x|measure=x", _margin, "a number (0.01) or MEASURE=number (frr_at_far=0.01)"),
        multiple=True,
        callback=lambda ctx, param, pairs: _margins(pairs),
    )


def _margins(pairs: tuple[tuple[str, float], ...]) -> float | dict[str, float] | None:
    """Return the margin of all measures, or those of some by name."""
    margins = dict(pairs)
    if len(margins) < len(pairs) or ("" in margins and len(pairs) > 1):
        raise click.UsageError(
            "--margin is given twice for one measure; expected one number for all measures, or "
            "MEASURE=number once for each"
        )
    return margins.get("", margins or None)


class ComparedSystems(MoreResults):
    """Paired comparisons of the systems of a page."""

    add_options = (_margin_option("the first of DATA is worse than each of the others"),)

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._margin = options.pop("margin")
        self.of_scores = "--margin" if self._margin is not None else ""

    def require(self, files: Sequence[str]) -> None:
        """Raise unless there are systems to compare, and measures of the margin's names."""
        if self._margin is None:
            return
        from bioeval.studies.compare.margins import check_margin

        if len(files) == 1:
            raise click.UsageError("--margin compares systems, and there is one; name several")
        check_margin(self._margin, self.options["confidence"])

    def apart(self, systems: Mapping[str, Scores]) -> dict[str, str]:
        """Return what a system lacks of the first one with names, and what it adds."""
        from bioeval.studies.compare.paired_systems import Named, differences

        return differences({name: Named.of(scores) for name, scores in systems.items()})

    def of_all(
        self, systems: Mapping[str, Scores], results: Mapping[str, xr.DataTree], target: str | None
    ) -> dict[str, xr.Dataset]:
        """Return paired comparisons of the best of several systems with each of the others.

        The best has the smallest FRR at the FAR that the page opens with. Nothing where the systems
        cannot be compared, as those that have different attempts: the page says so. Of two systems,
        and with a margin, which is set beforehand, it is the first that is compared, as by bioeval
        compare. With a margin an error says why not.
        """
        from bioeval.evaluation import resolve_card
        from bioeval.studies.compare.compare import compare

        _, _, far = (target or "").partition("=")

        def frr(name: str) -> float:
            tree = results[name]
            ds: Any = tree["verification/single"] if "verification" in tree.children else {}
            if "frr_at_far" not in ds:
                return 0.0  # in the order given
            if far and float(far) in ds["far_target"].values:
                return float(ds["frr_at_far"].sel(far_target=float(far)))
            return float(ds["eer"])

        options = {}
        for name in ("confidence", "replicates", "random_state", "far_targets", "frr_targets"):
            if self.options[name] is not None:
                options[name] = self.options[name]
        first = self._margin is not None or len(systems) == 2
        best = next(iter(systems)) if first else min(systems, key=frr)
        refused: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if self._margin is None:
            refused = contextlib.suppress(BioevalError)
        compared = {}
        for other in systems:
            if other == best:
                continue
            self.stages(f"comparing {best} and {other}")
            card = resolve_card(systems[best], self.options["protocol"])
            with refused:
                compared[f"{best} and {other}"] = compare(
                    systems[best],
                    systems[other],
                    protocol=card if card.reid is not None else None,
                    margin=self._margin,
                    progress=self.stages.counting,
                    **options,
                    **self.place,
                )
        return compared


@click.command("compare", cls=Command)
@click.argument("a")
@click.argument("b")
@output_options(
    "comparison.nc, summary.json, table.txt and comparison.csv",
    "draw each curve of both systems",
)
@option("--name NAME", "Name of A.  [the file's name]")
@option("--name-b NAME", "Name of B.  [the file's name]")
@option("--kind-b", "Kind of the scores of B.  [as for A]", get_args(Kind))
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
    Value.CARD,
)
@shared_options(
    templates=True,
    far=True,
    frr=True,
    interval=True,
    reading=True,
    workers=True,
    checkpoint=True,
)
@option(
    "--gallery",
    "Intervals of identification are for new people, enrolled and searched for (new), or for other "
    "probes in this gallery (fixed).",
    ["new", "fixed"],
    "new",
)
@option(
    "--adjust",
    "Adjust the tests for the number of measures, by Holm's method.",
    ["none", "holm"],
    "none",
)
@_margin_option("A is worse than B")
def command(a: str, b: str, name: str | None, name_b: str | None, **options: Any) -> None:
    """Compare systems A and B on the same templates in the same order.

    A and B are files as `bioeval run` reads them. They may be the same file if --scores and
    --scores-b name different arrays in it. Options of A apply to B as well, unless the option for B
    is given. Both systems are resampled together by subject, and each line of the table says
    whether they differ. A system that was chosen because it is the best on these data, such as the
    best of several epochs, looks better than it is: choose it on other people.
    """
    of_b = {}
    not_of_b: dict[str, Any] = {}
    for option_name in _OF_B:
        value = options.pop(f"{option_name}_b")
        if value is not None:
            of_b[option_name] = value
            not_of_b |= dict.fromkeys(_APART.get(option_name, ()))
    with StudyCommand(a, options) as run:
        readings = run.reading, run.reading_of(b, **(not_of_b | of_b))
        from bioeval.studies.compare.compare import compare
        from bioeval.tallies import FAR_TARGETS

        options = {"far_targets": FAR_TARGETS, "frr_targets": (), "protocol": None} | run.options
        read = []
        for file, given_name, reading in zip((a, b), (name, name_b), readings, strict=True):
            key = reading["scores_key"] or reading["embeddings_key"] if a == b else None
            read.append(run.read(file, given_name or key or Path(file).stem, reading=reading))
        place = run.place(*read)
        comparison = run.count(compare, *read, **options)
        values = [comparison["value_a"], comparison["value_b"]]
        run.require_defined(values, read, options["protocol"] or "auto")
        curves = {}
        if run.output.plots or run.output.page is not None:
            names = str(comparison.attrs["system_a"]), str(comparison.attrs["system_b"])
            trees = _curves(
                dict(zip(names, read, strict=True)),
                options["protocol"],
                options["templates"],
                options["far_targets"],
                options["frr_targets"],
                client=place.get("client"),
                progress=run.stages.counting,
                extra_thresholds=None if run.output.page is None else (),
            )
            for name, tree in trees.children.items():
                curves[name] = run.in_terms(tree.copy())
        shown = run.in_terms(comparison)
        document, _ = run.data_of(comparison)
        for name in ("file", "conclusions", "verdicts"):  # the last two are in the rows
            del document[name]
        document = {"file_a": a, "file_b": b, **document}
        run.save(
            document,
            comparison,
            run.table(shown),
            name="comparison.nc",
            csv={"comparison.csv": document["measures"]},
            drawn=curves or None,
            overlaid=True,
        )
        run.output.write_page({" and ".join(curves): shown, **curves}, [a, b], run.stages)


def _curves(
    systems: dict[str, Scores],
    protocol: str | Protocol | None,
    templates: str,
    far_targets: Sequence[float],
    frr_targets: Sequence[float],
    **options: Any,
) -> xr.DataTree:
    """Return the results of systems whose curves are drawn: those of the compared tasks."""
    from bioeval import evaluate
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
