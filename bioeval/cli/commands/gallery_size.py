"""``bioeval gallery-size``: rates against the size of the gallery."""

from __future__ import annotations

from typing import Any

from bioeval.cli.arguments import Value
from bioeval.cli.command import option
from bioeval.cli.study_command import StudyCommand, study


@study(
    "gallery-size",
    option(
        "--sizes N,N",
        "Numbers of subjects in the gallery; about a dozen, up to all, by default.",
        Value.WHOLE_NUMBERS,
    ),
    option(
        "--thresholds N|T,T",
        "Number of thresholds, or the thresholds themselves.",
        Value.THRESHOLDS,
    ),
    option("--max-rank N", "Number of ranks.", int),
    option(
        "--ties",
        "Rank of a mate among candidates with exactly the same score.",
        ["pessimistic", "optimistic", "stable", "expected"],
        "pessimistic",
    ),
    option(
        "--impostors",
        "Whose searches are non-mated.",
        ["auto", "unenrolled", "leave-subject-out", "both"],
        "auto",
    ),
    plots=True,
    use=True,
    name=False,
)
def gallery_size_command(run: StudyCommand) -> None:
    """Evaluate identification of DATA by number of enrolled subjects.

    bioeval gallery-size scores.npz --sizes 5,10 --max-rank 3

    Rates are exact means over all galleries of as many subjects.
    """
    from bioeval.studies.galleries.gallery_size import gallery_size

    scores = run.read()
    dataset = run.count(gallery_size, scores, **run.options)
    run.require_defined([dataset["cms"]], [scores])
    sizes = dataset["gallery_size"].values.tolist()
    csv: dict[str, dict[str, list[Any]]] = {}
    for name, over in {"cms": "rank", "far": "threshold", "frr": "threshold"}.items():
        values = dataset[name].transpose("gallery_size", over).values.tolist()
        columns = {f"gallery_size_{n}": x for n, x in zip(sizes, values, strict=True)}
        csv[f"{name}.csv"] = {over: dataset[over].values.tolist(), **columns}
    run.finish(dataset, csv=csv)
