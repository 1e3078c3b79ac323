"""``bioeval normalise``: the scores of trials, normalised by a cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import PRIORS, joined_lists
from bioeval.cli.command import option
from bioeval.cli.shared import rates, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores


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
    from bioeval.tasks.verification_task import verification

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
    options = {"far_targets": (0.01,), "frr_targets": ()} | options
    datasets = {}
    for name, trials in ((scores.name, scores), (f"{scores.name}, {method}-norm", normalised)):
        datasets[str(name)] = verification(trials.replace(name=name), **options)
    require_defined([ds["eer"] for ds in datasets.values()], [scores])
    run.finish(datasets)


def _cohorts(
    files: tuple[str, ...], scores: Scores, labels: str | None, run: Run
) -> tuple[Scores, Scores | None]:
    """Return the cohort scores of the enrolled and, if it has a file of its own, the other side.

    The options for reading the trials say whose the names in a text are.
    """
    from bioeval.scores.formats.files import existing_file
    from bioeval.scores.formats.reading import is_text
    from bioeval.studies.fusion.cohorts import read_cohort

    label_options = {"labels": labels}
    if run.reading["subject_from"] is not None:
        label_options = {"subject_from": run.reading["subject_from"]}
    read = []
    for file in files:
        options = label_options if is_text(existing_file(file, "cohort scores")) else {}
        run.files.append(file)
        read.append(read_cohort(file, kind=scores.kind, nan=scores.nan, **options))
    return read[0], read[1] if len(read) > 1 else None
