"""``bioeval normalise``: the scores of trials, normalised by a cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import Value, joined_lists
from bioeval.cli.command import Command, option
from bioeval.cli.options import rates, shared_options
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores


@click.command("normalise", cls=Command)
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
@option("--top N", "Of method as: number of closest cohort scores of each template.", int)
@option(
    "--save FILE",
    "Write the normalised scores (.npz, .txt, .csv).",
    name="save_to",
)
@option(
    "--min-dcf P,P",
    "Priors of a genuine attempt at which to report minDCF; repeatable.  [0.01,0.05]",
    Value.PRIORS,
    multiple=True,
    callback=joined_lists,
)
@rates("--far X", "FAR at which to report FRR.", "far_targets")
@rates("--frr X", "FRR at which to report FAR.", "frr_targets")
@shared_options(plots=True)
def normalise_command(data: str, **options: Any) -> None:
    """Normalise the scores of a list of trials by those of a cohort of other people.

    bioeval normalise dev.txt --kind similarity --cohort cohort.txt
    bioeval normalise dev.txt --kind similarity --method as --top 4 --cohort c.txt

    A score is shifted and scaled by mean and standard deviation of scores of its recordings against
    the cohort. The first name of a trial is that of the enrolled recording. The table shows the
    scores as they were beside the normalised ones.
    """
    keys = ("method", "cohort", "top", "save_to")
    how = {key: options.pop(key) for key in keys}
    if (how["method"] == "as") != (how["top"] is not None):
        raise click.UsageError(
            "--method as needs the number of closest cohort scores, such as --top 300, and no "
            "other method has it"
        )
    priors = options.pop("min_dcf") or (0.01, 0.05)
    second = options.get("second")
    with StudyCommand(data, options) as run:
        run.file_to_write(how["save_to"])
        from bioeval.document.blocks import Fact
        from bioeval.document.cells import Count, Label
        from bioeval.studies.fusion.fusion import measures_section
        from bioeval.studies.fusion.normalise import normalise
        from bioeval.tasks.verification_task import verification

        scores = run.read()
        if scores.layout != "pairs":
            raise DataError(
                f"{data}: is a matrix; expected a list of trials. In Python, be.normalise takes "
                "matrices"
            )
        run.stages("normalising")
        enrolled, probes = _cohorts(how["cohort"], scores, run.reading)
        made = normalise(scores, how["method"], enrolled, probe_cohort=probes, top=how["top"])
        run.save_scores(made, how["save_to"])
        targets: dict[str, Any] = {"far_targets": (0.01,), "frr_targets": ()}
        targets |= {key: run.options[key] for key in targets if key in run.options}
        targets["costs"] = [(prior, 1.0, 1.0) for prior in priors]
        name = str(scores.name)
        datasets = {}
        for system, evaluated in ((name, scores), (f"{name}, {how['method']}-norm", made)):
            datasets[system] = run.count(verification, evaluated.replace(name=system), **targets)
        run.require_defined([ds["eer"] for ds in datasets.values()], [scores])
        facts = [
            Fact("Normalised", Label(made.origin)),
            Fact("Cohort", Label(", ".join(how["cohort"]))),
        ]
        if how["method"] == "as":
            facts.append(Fact("Closest", Label(f"{how['top']:,} of each side")))
        for words, attempts in (("Genuine", "genuine_attempts"), ("Impostor", "impostor_attempts")):
            facts.append(Fact(words, Count(int(datasets[name][attempts]), noun="attempts")))
        note = "Each number is at the best threshold of these data (optimistic)."
        files = [data, second, *how["cohort"]]
        shown = {system: run.in_terms(ds) for system, ds in datasets.items()}
        run.finish(
            measures_section("Scores normalised by a cohort", datasets, facts, note),
            more=how,
            as_dataset=_tree(datasets),
            drawn=shown,
            overlaid=True,
            page=shown,
            files=list(filter(None, files)),
        )


def _tree(datasets: dict[str, xr.Dataset]) -> xr.DataTree:
    """Return the results as a tree, by names without a slash."""
    import xarray as xr

    from bioeval.results.dataset import without_slashes

    nodes = without_slashes(datasets, "-")
    return xr.DataTree.from_dict({nodes[name]: ds for name, ds in datasets.items()})


def _cohorts(
    files: tuple[str, ...], scores: Scores, reading: dict[str, Any]
) -> tuple[Scores, Scores | None]:
    """Return the cohort scores of the enrolled and, if it has a file of its own, the other side.

    The options for `reading` the trials say whose the names in a text are.
    """
    from bioeval.scores.formats.files import existing_file
    from bioeval.scores.formats.reading import is_text
    from bioeval.studies.fusion.cohorts import read_cohort

    whose: dict[str, Any] = {"labels": reading.get("labels")}
    if reading.get("subject_from") is not None:
        whose = {"subject_from": reading["subject_from"]}
    read = []
    for file in files:
        options = whose if is_text(existing_file(file, "cohort scores")) else {}
        read.append(read_cohort(file, kind=scores.kind, nan=scores.nan, **options))
    return read[0], read[1] if len(read) > 1 else None
