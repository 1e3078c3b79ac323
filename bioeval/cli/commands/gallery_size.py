"""``bioeval gallery-size``: rates against the size of the gallery."""

from __future__ import annotations

from typing import Any

from bioeval.cli.calls import options_of
from bioeval.cli.study_command import StudyCommand, study


@study(
    "gallery-size",
    options_of("gallery_size", "sizes", "thresholds", "max_rank", "ties", "impostors"),
    plots=True,
    use=True,
    name=False,
)
def command(run: StudyCommand) -> None:
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
