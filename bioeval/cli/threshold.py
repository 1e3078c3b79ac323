"""``bioeval threshold``: which threshold to install, and what to expect of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Whole
from bioeval.cli.reading_options import reading, reading_options

if TYPE_CHECKING:
    import xarray as xr

HELP = """Find the threshold to install for DATA, and what FAR and FRR new people will meet.

The threshold is chosen on all data. What to expect of it is found by choosing it on some of the
subjects and judging it on the others, in repeated folds.

\b
TARGET is one of
  far=0.001        the smallest FRR with FAR at most this
  eer              the equal error rate
  hter, accuracy   the smallest (FAR + FRR) / 2, the most right decisions
  cost=P,M,A       the least cost: prior P, of a miss M, of a false accept A
  fixed=T          the threshold T itself

\b
Examples:
  bioeval threshold scores.npz --target far=1e-3
  bioeval threshold scores.npz --target far=1e-3 --folds 10 --repeats 20 --out study
  bioeval threshold faces.npz --embeddings dlib128 --labels subject --target eer --json
"""


@click.command("threshold", help=HELP, short_help="Which threshold to install.")
@click.argument("data")
@click.option(
    "--target", default="far=0.001", show_default=True, metavar="TARGET", help="How to choose it."
)
@click.option("--folds", type=Whole(2), help="Folds of subjects.  [10, or those of the pairs]")
@click.option("--repeats", type=Whole(1), help="How often to draw the folds.  [20]")
@click.option(
    "--replicates",
    type=Whole(100),
    default=2000,
    show_default=True,
    metavar="N",
    help="How often to resample subjects.",
)
@click.option(
    "--seed", type=Whole(0), default=0, show_default=True, help="Of folds and resampling."
)
@click.option(
    "--templates",
    type=click.Choice(["single", "multi"]),
    default="single",
    show_default=True,
    help="Whether each template makes an attempt, or each subject.",
)
@click.option(
    "--fusion", default="min", show_default=True, help="How a subject's templates are fused."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals.")
@click.option("--out", metavar="DIR", help="Write results.nc, summary.json, table.txt, a plot.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, not a table.")
@reading_options
def command(
    data: str,
    target: str,
    folds: int | None,
    repeats: int | None,
    replicates: int,
    seed: int,
    templates: str,
    fusion: str,
    confidence: float,
    out: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Study a threshold and show, or write, what was found."""
    given = reading(data, options)
    from bioeval.cli.console import Stages, note, show, show_json
    from bioeval.cli.fold_outputs import gathered, study_summary
    from bioeval.cli.outputs import check_folder

    folder = None if out is None else check_folder(out)
    from bioeval.evaluation.cross import study_threshold
    from bioeval.scores.formats import load
    from bioeval.views.tables.threshold_study import StudyTable

    names: list[str] = []
    with Stages() as tell:
        tell(f"reading {data}")
        scores = load(data, **given)
        study = study_threshold(
            scores,
            target,
            folds=folds,
            repeats=repeats,
            random_state=seed,
            templates=templates,
            fusion=fusion,
            confidence=confidence,
            replicates=replicates,
            progress=tell.counting,
        )
        document = study_summary(study, data)
        if folder is not None:
            tell(f"writing to {folder}")
            names = gathered(folder, document, lambda part: _write(study, part))
    if as_json:
        show_json(document)
    else:
        show(StudyTable(study))
    if folder is not None:
        note(f"wrote {len(names)} files to {folder}")


def _write(study: xr.Dataset, part: Any) -> None:
    """Write the study, its table and its plot into a folder."""
    from bioeval.cli.console import WIDTH
    from bioeval.views.plots.save_all import save_all
    from bioeval.views.tables import plain
    from bioeval.views.tables.threshold_study import StudyTable

    study.to_netcdf(part / "results.nc", engine="h5netcdf")
    (part / "table.txt").write_text(plain(StudyTable(study), WIDTH), encoding="utf-8")
    save_all(study, (), part)
