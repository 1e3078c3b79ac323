"""``bioeval fuse``: systems fused, and evaluated beside the fused one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalWarning, DataError
from bioeval.cli.arguments import ENTRIES, joined_entries
from bioeval.cli.command import option
from bioeval.cli.shared import rates, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores
    from bioeval.studies.fusion.fusion import SystemFusion


@click.argument("systems", nargs=-1, required=True, metavar="A B [C ...]")
@option(
    "--method RULE",
    "Rule that fuses the scores: best, worst, mean, median, kth:K, min, max, product, weighted or "
    "logistic.",
    str,
    "mean",
)
@option(
    "--normalise",
    "Normalisation of the scores before fusion.",
    ["none", "min-max", "z", "tanh"],
    "none",
)
@option(
    "--weights NAME=W",
    "With --method weighted: weight of a system; once per system.",
    ENTRIES,
    multiple=True,
    callback=joined_entries,
)
@option(
    "--train FILE",
    "Scores of other subjects to learn from; once per system, in order.",
    multiple=True,
)
@option(
    "--protocol CARD",
    "Card with folds, such as course-kfold: learn on the training subjects of each fold, evaluate "
    "on its test subjects.",
)
@rates("--far X", "FAR at which to report FRR.", "far_targets")
@rates("--frr X", "FRR at which to report FAR.", "frr_targets")
@option("--out FILE", "Write the fused scores, as .npz.", name="save_to")
@option("--force", "Replace FILE and HTML if they exist.", bool)
@shared(use=True, files=False, names=True, fails=("eer@system=fused > 5%",))
def fuse_command(
    run: Run,
    systems: tuple[str, ...],
    method: str,
    normalise: str,
    weights: dict[str, str],
    train: tuple[str, ...] = (),
    protocol: str | None = None,
    **options: Any,
) -> None:
    """Fuse systems A, B ... of the same templates in the same order.

    bioeval fuse face.npz finger.npz --normalise z --out fused.npz
    bioeval fuse face.npz finger.npz --method logistic --protocol course-kfold

    Each system is a file as `bioeval run` reads it; options for reading apply to all files. The
    table shows each system beside the fused system. Weights (--method logistic) and scales
    (--normalise) are learnt from --train, from the training subjects of --protocol, or else from
    the data themselves. The scores in --out use what was learnt from --train, or else from all
    data.
    """
    import warnings

    from bioeval.counting.points import FAR_TARGETS
    from bioeval.studies.fusion.fusion import SystemFusion, fuse
    from bioeval.tasks.verification_task import verification

    if len(systems) < 2:
        raise click.UsageError("one system is nothing to fuse; give two files or more")
    if train and len(train) != len(systems):
        raise click.UsageError(f"--train is given {len(train)} times for {len(systems)} systems")
    if train and protocol is not None:
        raise click.UsageError(
            "give --train or --protocol, not both: each selects the training data"
        )
    fusion_options: dict[str, Any] = {
        "method": method,
        "normalise": normalise,
        "weights": _weights(weights),
    }
    names = run.names(systems)
    if "fused" in names:
        raise click.UsageError("a system is called 'fused'; name each with --name")
    if run.save_to is not None and run.save_to.suffix.lower() != ".npz":
        raise DataError(f"{run.save_to}: fused scores are written as .npz")
    by_name = {name: run.read(file, name=name) for name, file in zip(names, systems, strict=True)}
    train_by_name = {
        name: run.read(file, name=name) for name, file in zip(names, train, strict=False)
    }
    read = dict(by_name)
    if run.save_to is not None or protocol is None:
        run.stages("fusing")
        with warnings.catch_warnings():  # the table has them
            warnings.simplefilter("ignore", BioevalWarning)
            by_name["fused"] = fuse(read, **fusion_options, train=train_by_name or None)
    run.stages("counting")
    options = {"far_targets": FAR_TARGETS, "frr_targets": ()} | options
    if protocol is None:
        datasets = {name: verification(scores, **options) for name, scores in by_name.items()}
        require_defined([ds["eer"] for ds in datasets.values()], read.values())
    else:
        datasets = _in_folds(read, SystemFusion(**fusion_options), protocol, options)
    if run.save_to is not None:
        run.save_scores(by_name["fused"])
    run.finish(datasets)


def _weights(weights: dict[str, str]) -> dict[str, float] | None:
    try:
        return {name: float(value) for name, value in weights.items()} or None
    except ValueError as error:
        raise click.BadParameter(
            f"{error}; expected NAME=NUMBER", param_hint="'--weights'"
        ) from None


def _in_folds(
    systems: dict[str, Scores], fusion: SystemFusion, protocol: str, options: dict[str, Any]
) -> dict[str, xr.Dataset]:
    """Return the verification of all systems and of their fusion in the same folds, by name."""
    from bioeval.protocol.loading import for_layout
    from bioeval.studies.folds.cross_evaluate import cross_evaluate
    from bioeval.studies.partitions.cards import splitter_of

    first = next(iter(systems.values()))
    chosen = for_layout(first.layout, protocol)
    splitter = splitter_of(chosen, first)
    options["threshold"] = chosen.section("decision").as_rule()
    datasets = {
        name: cross_evaluate(scores, splitter, **options) for name, scores in systems.items()
    }
    datasets["fused"] = cross_evaluate(systems, splitter, estimator=fusion, **options)
    for dataset in datasets.values():
        dataset.attrs["protocol"] = chosen.name
    return datasets
