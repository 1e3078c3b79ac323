"""``bioeval normalise``: the scores of trials, normalised by a cohort."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import Value, joined_lists
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option
from bioeval.cli.options import shared_options
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


@click.command("normalise", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[TRIALS]")
@options_of("normalise", "method", method={"default": "s", "required": False})
@option(
    "--cohort FILE [FILE]",
    "Scores of the recordings against the cohort, or of enrolled and test recordings in two files; "
    "with --recordings, embeddings.",
    Value.FILES,
    required=True,
)
@option(
    "--recordings FILE",
    "Embeddings of the recordings, by their names.",
)
@options_of("normalise", "top", "select", select={"default": None})
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
@options_of("verification", "far_targets", "frr_targets")
@shared_options(plots=True)
def command(data: str, **options: Any) -> None:
    """Normalise the scores of a list of trials by those of a cohort of other people.

    A score is shifted and scaled by mean and standard deviation of scores of its recordings against
    the cohort. The first name of a trial is that of the enrolled recording. The table shows the
    scores as they were beside the normalised ones.
    """
    keys = ("method", "cohort", "recordings", "top", "select", "save_to")
    how = {key: options.pop(key) for key in keys}
    if how["method"] != "as":
        for key in ("top", "select"):
            if how[key] is not None:
                raise click.UsageError(f"--{key} needs --method as")
    elif how["top"] is None:
        raise click.UsageError(
            "--method as needs the number of closest cohort scores, such as --top 300"
        )
    else:
        how["select"] = how["select"] or "each"
    priors = options.pop("min_dcf") or (0.01, 0.05)
    second = options.get("second")
    with StudyCommand(data, options) as run:
        if how["save_to"] is not None:
            run.file_to_write(how["save_to"])
        import xarray as xr

        from bioeval.document.blocks import Fact
        from bioeval.document.cells import Count, Label
        from bioeval.studies.fusion.normalise import normalise
        from bioeval.studies.fusion.section import SideBySide
        from bioeval.tasks.verification_task import verification

        scores = run.read()
        if scores.layout != "pairs":
            raise DataError(
                f"{data}: is a matrix; expected a list of trials. In Python, be.normalise takes "
                "matrices"
            )
        run.stages("normalising")
        enrolled, probes = _cohorts(how["cohort"], how["recordings"], scores, run.reading)
        made = normalise(
            scores,
            how["method"],
            enrolled,
            probe_cohort=probes,
            top=how["top"],
            select=how["select"] or "each",
        )
        if how["save_to"] is not None:
            from bioeval.scores.formats import save

            save(made, how["save_to"])
            run.output.remarks.append(f"wrote {how['save_to']}: {made!r}")
        name = str(scores.name)
        targets: dict[str, Any] = {"far_targets": (0.01,), "frr_targets": ()}
        targets |= {key: run.options[key] for key in targets if key in run.options}
        targets["costs"] = [(prior, 1.0, 1.0) for prior in priors]
        datasets = {}
        for system, evaluated in ((name, scores), (f"{name}, {how['method']}-norm", made)):
            named = evaluated.replace(name=system)
            datasets[system] = run.count(verification, named, **targets)
        run.require_defined([ds["eer"] for ds in datasets.values()], [scores])
        files = [data, second, *how["cohort"], how["recordings"]]
        facts = [Fact("Normalised", Label(made._origin))]
        facts += [Fact(words, Label(value)) for words, value in _in_words(how).items()]
        for words, attempts in (("Genuine", "genuine_attempts"), ("Impostor", "impostor_attempts")):
            facts.append(Fact(words, Count(int(datasets[system][attempts]), noun="attempts")))
        note = "Each number is at the best threshold of these data (optimistic)."
        trials = SideBySide("Scores normalised by a cohort", datasets, facts, note)
        shown = {system: run.in_terms(ds) for system, ds in datasets.items()}
        document, csv = run.data_of(trials)
        nodes = {system.replace("/", "-"): ds for system, ds in datasets.items()}
        run.save(
            {**document, **how, "file": data},
            xr.DataTree.from_dict(nodes),
            run.table(trials),
            csv=csv,
            drawn=shown,
            overlaid=True,
        )
        if run.output.page is not None:
            run.write_page(shown, *filter(None, files))


def _cohorts(
    files: tuple[str, ...], recordings: str | None, scores: Scores, reading: dict[str, Any]
) -> tuple[Scores, Scores | None]:
    """Return the cohort scores of the enrolled and, if it has a file of its own, the other side.

    The options for `reading` the trials say whose the names in a text are.
    """
    from bioeval.scores.formats.cohorts import is_text
    from bioeval.studies.fusion.cohorts import read_cohort

    if recordings is not None and len(files) > 1:
        raise click.UsageError("--recordings needs one file of --cohort, the cohort's embeddings")
    kind: Any = scores.kind
    whose: dict[str, Any] = {"labels": reading.get("labels")}
    if reading.get("subject_from") is not None:
        whose = {"subject_from": reading["subject_from"]}
    read = []
    for file in files:
        of_text = whose if is_text(file) else {}
        options: dict[str, Any] = {"recordings": recordings, "nan": scores.nan, **of_text}
        read.append(read_cohort(file, kind=kind, **options))
    return read[0], read[1] if len(read) > 1 else None


def _in_words(how: dict[str, Any]) -> dict[str, str]:
    """Return what was normalised by what, as facts."""
    words = {"Cohort": ", ".join(how["cohort"])}
    if how["method"] == "as":
        whose = {"each": "each side", "other": "the other side", "enrolled": "the enrolled side"}
        words["Closest"] = f"{how['top']:,} of {whose[how['select'] or 'each']}"
    return words
