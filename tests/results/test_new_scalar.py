"""One entry in the registry of scalars is all that a new metric needs: shown with Youden's J."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import bioeval as be

pytestmark = pytest.mark.slow

ENTRY = """VERIFICATION_RATES = (
    Scalar(
        "Youden's J: GAR - FAR",
        name="youden",
        of_rates=lambda far, frr: 1 - frr - far,
        label="Youden's J",
        percent=False,
        decimals=3,
        larger_is_better=True,
        results=("folds", "repeats"),
    ),
    Scalar(
        "Youden's J: GAR - FAR",
        name="max_youden",
        of_rates=lambda far, frr: 1 - frr - far,
        best="max",
        label="max Youden's J",
        percent=False,
        decimals=3,
        larger_is_better=True,
        results=("task", "comparison"),
    ),
"""

PROGRAM = """
import contextlib, io, json
import bioeval as be
from bioeval.cli import main

scores = be.simulate(20, 4, random_state=1)
other = be.simulate(20, 4, within=0.9, random_state=1)
be.save(scores, "scores.npz")

def shown(*args):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert main(["run", "scores.npz", *args]) == 0
    return text.getvalue()

interval = be.verification(scores, interval="subject-bootstrap", replicates=100)
compared = be.compare(scores, other, replicates=100).sel(measure="max Youden's J")
folds = be.cross_evaluate(scores, be.partition.SubjectKFold(4))
repeats = be.repeat(scores, be.partition.SubjectShuffleSplit(3))
shown("--protocol", "course-kfold", "--out", "folds")
print(json.dumps({
    "file": be.__file__,
    "value": interval.max_youden.item(),
    "threshold": interval.max_youden_threshold.item(),
    "names": [interval[x].attrs["long_name"] for x in ("max_youden", "max_youden_threshold")],
    "interval": [interval.max_youden_low.item(), interval.max_youden_high.item()],
    "compared": [compared.value_a.item(), compared.value_b.item(), compared.better.item()],
    "folds": folds.youden_summary.sel(statistic="mean").item(),
    "repeats": repeats.youden_mean.max().item(),
    "table": shown(),
    "json": json.loads(shown("--json"))["tasks"]["verification/single"]["max_youden"],
    "csv": [x for x in open("folds/folds_verification_single.csv")][0],
}))
"""


def youden(scores: be.Scores) -> tuple[float, float]:
    """The largest GAR - FAR over all thresholds, and minus its threshold, by the definition."""
    values, labels = np.asarray(scores.values), scores.probe_labels
    same = labels[:, None] == labels
    genuine, impostor = values[same & ~np.eye(len(labels), dtype=bool)], values[~same]
    return max(((genuine <= t).mean() - (impostor <= t).mean(), -t) for t in np.unique(genuine))


def test_one_entry_is_all_that_a_new_metric_needs(root, tmp_path):
    shutil.copytree(
        root / "bioeval", tmp_path / "bioeval", ignore=shutil.ignore_patterns("*cache*")
    )
    registry = tmp_path / "bioeval" / "base" / "scalars.py"
    text = registry.read_text(encoding="utf-8")
    assert text.count("VERIFICATION_RATES = (\n") == 1
    registry.write_text(text.replace("VERIFICATION_RATES = (\n", ENTRY), encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["file"].startswith(str(tmp_path))
    (first, threshold), (second, _) = (
        youden(be.simulate(20, 4, within=w, random_state=1)) for w in (0.6, 0.9)
    )
    assert found["value"] == pytest.approx(first, abs=1e-12)
    assert found["threshold"] == -threshold
    assert found["names"] == [
        "Youden's J: GAR - FAR; the largest of any threshold",
        "strictest threshold at which max_youden is reached",
    ]
    assert found["interval"][0] < first < found["interval"][1]
    assert found["compared"] == [pytest.approx(first), pytest.approx(second), 1]
    assert 0 < found["folds"] <= 1 and found["repeats"] == pytest.approx(first, abs=0.1)
    assert "Youden's J" in found["table"]
    assert found["json"] == pytest.approx(first, abs=1e-12)
    assert "youden" in found["csv"]
