# packages: trackeval motmetrics
"""TrackEval: two sequences that come with py-motmetrics, in the folders that it expects."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import trackeval

import bioeval as be
from peers.frame import Figure, print_costs, print_figures, print_title

SEQUENCES = {"TUD-Campus": 71, "TUD-Stadtmitte": 179}  # with their numbers of frames
FIGURES = {
    "HOTA": {"HOTA": "hota", "DetA": "deta", "AssA": "assa", "LocA": "loca"},
    "CLEAR": {
        "MOTA": "mota", "MOTP": "motp", "IDSW": "idsw", "CLR_FN": "fn", "CLR_FP": "fp",
        "Frag": "resumptions", "MT": "mt", "ML": "ml",
    },
    "Identity": {"IDF1": "idf1", "IDP": "idp", "IDR": "idr"},
}  # fmt: skip


def lay(folder: Path) -> tuple[Path, Path]:
    """Copy the sequences to where TrackEval looks for them."""
    truth, results = folder / "gt", folder / "trackers" / "tracker" / "data"
    results.mkdir(parents=True)
    for name in SEQUENCES:
        source = Path(str(files("motmetrics"))) / "data" / name
        (truth / name / "gt").mkdir(parents=True)
        shutil.copy(source / "gt.txt", truth / name / "gt" / "gt.txt")
        shutil.copy(source / "test.txt", results / f"{name}.txt")
    return truth, results


def theirs_of(folder: Path):
    quiet = {"PRINT_RESULTS": False, "PRINT_CONFIG": False, "TIME_PROGRESS": False}
    quiet |= {"OUTPUT_SUMMARY": False, "OUTPUT_DETAILED": False, "PLOT_CURVES": False}
    data = trackeval.datasets.MotChallenge2DBox(
        {
            "GT_FOLDER": str(folder / "gt"),
            "TRACKERS_FOLDER": str(folder / "trackers"),
            "BENCHMARK": "MOT15",
            "SEQ_INFO": SEQUENCES,
            "SKIP_SPLIT_FOL": True,
            "PRINT_CONFIG": False,
        }
    )
    metrics = [getattr(trackeval.metrics, name)({"PRINT_CONFIG": False}) for name in FIGURES]
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = trackeval.Evaluator(quiet).evaluate([data], metrics)
    return results["MotChallenge2DBox"]["tracker"]["COMBINED_SEQ"]["pedestrian"]


def main() -> None:
    print_title("TrackEval", "trackeval")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = lay(folder)
        theirs = theirs_of(folder)

        def ours_of():
            return be.tracking(*paths, pairing="previous-frame", mostly_tracked="more-than")

        ours = ours_of()
        figures = [
            Figure(f"{key} (`{variable}`)", np.mean(theirs[group][key]), ours[variable])
            for group, names in FIGURES.items()
            for key, variable in names.items()
        ]
        print_figures("TrackEval", figures)
        print_costs("both sequences", lambda: theirs_of(folder), ours_of)


if __name__ == "__main__":
    main()
