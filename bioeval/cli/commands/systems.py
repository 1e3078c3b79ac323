"""Commands of systems: compared, fused, normalised."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalWarning, DataError
from bioeval.cli.arguments import ENTRIES, PRIORS, joined_entries, joined_lists
from bioeval.cli.command import option
from bioeval.cli.shared import rates, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores
    from bioeval.studies.fusion.fusion import SystemFusion


@click.argument("data", nargs=-1, required=True)
@option(
    "--measure M",
    "Measures to compare, such as eer, frr_at_far=0.001, auc, cms=5, mean_ap.",
    name="measures",
    multiple=True,
)
@option("--protocol CARD", "Card of re-identification by which to compare.")
@rates("--far X", "FAR at which to report FRR.", "far_targets")
@rates("--frr X", "FRR at which to report FAR.", "frr_targets")
@option(
    "--adjust",
    "Adjust the tests for the number of measures, by Holm's method.",
    ["none", "holm"],
    "none",
)
@shared(use=True, interval=True, plots=True, names=True, fails=("eer > 5%", "worse"))
def compare_command(run: Run, data: tuple[str, ...], **options: Any) -> None:
    """Compare systems on the same templates, with intervals and tests of their differences.

    bioeval compare old.npz new.npz
    bioeval compare old.npz new.npz others.npz --measure eer --out results --plots
    bioeval compare old.mat new.mat --protocol market1501

    DATA are two files or more as `bioeval run` reads them, with the same templates in the same
    order, or with names of the templates. Differences are paired by person. Each line of the
    differences says whether two systems differ; of three and more, systems are ranked by each
    measure, and those that share a letter do not differ significantly. Options apply to all
    systems. A system that was chosen because it is the best on these data,
    such as the best of several epochs, looks better than it is: choose it on other people. Where
    the last of DATA is a list of trials without scores, it has the trials of all systems.
    """
    from bioeval.cli.running import Extras
    from bioeval.evaluation import evaluate
    from bioeval.scores.formats.comparisons import lists_trials
    from bioeval.studies.compare.compare import compare

    files, trials = list(data), None
    if len(files) > 1 and lists_trials(files[-1]):
        trials = files.pop()
    if len(files) == 1:
        raise click.UsageError(f"one system is given, {files[0]}; expected two or more")
    by_name = dict(zip(run.names(files), files, strict=True))
    systems = {name: partial(run.read, file, trials, name) for name, file in by_name.items()}
    limits = run.interval("people")
    comparison = compare(systems, interval=limits, **options)
    protocol = options.get("protocol", "auto")
    values = [comparison[x] for x in comparison if f"{x}_difference" in comparison]
    require_defined(values, (read() for read in systems.values()), protocol)
    draw = None
    if run.formats:
        evaluated = {name: evaluate(read(), protocol) for name, read in systems.items()}
        draw = partial(_draw, run, comparison, evaluated)
    if "measures" in options:
        comparison = comparison.assign_attrs(measures=" ".join(options["measures"]))
    run.finish(comparison, Extras(draw=draw, name=f"{len(systems)} systems"))


def _draw(
    run: Run, comparison: xr.Dataset, systems: Mapping[str, xr.DataTree], folder: Path
) -> None:
    run.draw(comparison, folder)
    run.draw(systems, folder)


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

    from bioeval.counting.targets import FAR_TARGETS
    from bioeval.studies.fusion.fusion import SystemFusion, fuse

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
    options = {"far_targets": FAR_TARGETS, **options}
    if protocol is None:
        datasets = _verified(by_name, options)
    else:
        datasets = _in_folds(read, SystemFusion(**fusion_options), protocol, options)
    if run.save_to is not None:
        run.save_scores(by_name["fused"])
    run.finish(datasets)


def _verified(by_name: dict[str, Scores], options: dict[str, Any]) -> dict[str, xr.Dataset]:
    from bioeval.tasks.verification_task import verification

    options = {"frr_targets": (), **options}
    datasets = {name: verification(scores, **options) for name, scores in by_name.items()}
    require_defined([ds["eer"] for ds in datasets.values()], by_name.values())
    return datasets


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
    from bioeval.protocol.loading import for_layout
    from bioeval.studies.folds.cross_evaluate import cross_evaluate
    from bioeval.studies.partitions.cards import splitter_of

    first = next(iter(systems.values()))
    chosen = for_layout(first.layout, protocol)
    splitter = splitter_of(chosen, first)
    options = {"frr_targets": (), "threshold": chosen.section("decision").as_rule(), **options}
    datasets = {
        name: cross_evaluate(scores, splitter, **options) for name, scores in systems.items()
    }
    datasets["fused"] = cross_evaluate(systems, splitter, estimator=fusion, **options)
    for dataset in datasets.values():
        dataset.attrs["protocol"] = chosen.name
    return datasets


@click.argument("data")
@click.argument("second", required=False, metavar="[TRIALS]")
@option(
    "--method",
    "By cohort scores of the enrolled template, the probe, both, or the closest of both.",
    ["z", "t", "s", "zt", "as"],
    "s",
)
@option(
    "--cohort FILE",
    "Scores of the recordings against the cohort; given twice, of the enrolled and of the test "
    "recordings.",
    required=True,
    multiple=True,
)
@option("--top N", "Number of closest cohort scores of each template, for method as.", int)
@option("--save FILE", "Write the normalised scores (.npz, .txt, .csv).", name="save_to")
@option(
    "--min-dcf P,P",
    "Priors of a genuine attempt at which to report minDCF; repeatable.  [0.01,0.05]",
    PRIORS,
    multiple=True,
    callback=joined_lists,
)
@rates("--far X", "FAR at which to report FRR.", "far_targets")
@rates("--frr X", "FRR at which to report FAR.", "frr_targets")
@shared(plots=True, fails=("eer > 5%",))
def normalise_command(
    run: Run,
    data: str,
    method: Any,
    cohort: tuple[str, ...],
    second: str | None = None,
    top: int | None = None,
    min_dcf: tuple[float, ...] = (0.01, 0.05),
    **options: Any,
) -> None:
    """Normalise the scores of a list of trials by those of a cohort of other people.

    bioeval normalise dev.txt --kind similarity --cohort cohort.txt
    bioeval normalise dev.txt --kind similarity --method as --top 4 --cohort c.txt

    A score is shifted and scaled by mean and standard deviation of scores of its recordings against
    the cohort. The first name of a trial is that of the enrolled recording. The table shows the
    scores as they were beside the normalised ones.
    """
    from bioeval.studies.fusion.normalise import normalise

    if (method == "as") != (top is not None):
        raise click.UsageError(
            "--method as needs the number of closest cohort scores, such as --top 300, and no "
            "other method has it"
        )
    _, scores, labels = run.read_system(data, second)
    if scores.layout != "pairs":
        raise DataError(
            f"{data}: is a matrix; expected a list of trials. In Python, be.normalise takes "
            "matrices"
        )
    run.stages("normalising")
    enrolled, probes = _cohorts(cohort, scores, labels, run)
    normalised = normalise(scores, method, enrolled, probe_cohort=probes, top=top)
    run.save_scores(normalised)
    run.stages("counting")
    options["costs"] = [(prior, 1.0, 1.0) for prior in min_dcf]
    name = f"{scores.name}, {method}-norm"
    by_name = {str(scores.name): scores, name: normalised.replace(name=name)}
    run.finish(_verified(by_name, {"far_targets": (0.01,), **options}))


def _cohorts(
    files: tuple[str, ...], scores: Scores, labels: str | None, run: Run
) -> tuple[Scores, Scores | None]:
    """Return the cohort scores of the enrolled and, if it has a file of its own, the other side.

    The options for reading the trials say whose the names in a text are.
    """
    from bioeval.scores.formats.files import existing_file
    from bioeval.scores.formats.reading import is_text
    from bioeval.studies.fusion.cohort_files import read_cohort

    label_options = {"labels": labels}
    if run.reading["subject_from"] is not None:
        label_options = {"subject_from": run.reading["subject_from"]}
    read = []
    for file in files:
        options = label_options if is_text(existing_file(file, "cohort scores")) else {}
        run.files.append(file)
        read.append(read_cohort(file, kind=scores.kind, nan=scores.nan, **options))
    return read[0], read[1] if len(read) > 1 else None
