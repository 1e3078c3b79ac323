"""One entry in the registry of scalars is all that a new measure needs: shown with five of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import bioeval as be

pytestmark = pytest.mark.slow

ENTRIES = {
    "VERIFICATION_RATES": """
    Scalar(
        "Youden's J: GAR - FAR",
        name="youden",
        of_rates=lambda far, frr: 1 - frr - far,
        label="Youden's J",
        kind="number",
        decimals=3,
        larger_is_better=True,
        results=("folds",),
    ),
    Scalar(
        "Youden's J: GAR - FAR",
        name="max_youden",
        of_rates=lambda far, frr: 1 - frr - far,
        best="max",
        label="max Youden's J",
        kind="number",
        decimals=3,
        larger_is_better=True,
        results=("task", "comparison"),
    ),
    Scalar(
        "proportion of the accepted attempts that are impostors",
        name="false_among_accepted",
        quotient=(("fa",), ("fa", "ga")),
        label="false among accepted",
        results=("task", "folds"),
    ),
""",
    "_QUERY_MEANS": """
    MeanOverQueries(
        "mean rank of the first match",
        name="mean_first_rank",
        of_match=lambda place, rank, number: np.where(place == 1, rank, 0.0),
        of_query=("first_rank", "rank of the first match"),
        label="mean first rank",
        kind="number",
        decimals=2,
        bounds=(1.0, np.inf),
        larger_is_better=False,
        results=("task", "comparison", "gom"),
    ),
    MeanOverQueries(
        "mean average precision of the first five entries",
        name="mean_ap_at_5",
        of_match=lambda place, rank, number: np.where(rank <= 5, place / rank, 0.0) / number,
        of_query=("ap_at_5", "average precision of the first five entries"),
        label="mAP at 5",
    ),
""",
}

# Replaces the registry in memory, so that the package has a stranger's entries.
REGISTRY = """
import importlib.util, json, sys
import bioeval.base
spec = importlib.util.find_spec("bioeval.base.scalars")
text, entries = open(spec.origin, encoding="utf-8").read(), json.loads(sys.argv[1])
for name, entry in entries.items():
    assert text.count(f"\\n{name} = (\\n") == 1
    text = text.replace(f"\\n{name} = (\\n", f"\\n{name} = ({entry}")
module = bioeval.base.scalars = importlib.util.module_from_spec(spec)
sys.modules[spec.name] = module
exec(compile(text, spec.origin, "exec"), vars(module))
"""

DATA = """
import numpy as np
import bioeval as be

def retrieval(seed, strangers=0):
    rng = np.random.default_rng(seed)
    queries, gallery = np.repeat(np.arange(9 + strangers), 3), np.tile(np.arange(9), 4)
    distance = rng.random((len(queries), len(gallery)))
    distance += 0.3 * (queries[:, None] != gallery)
    sides = [{"camera": np.full(len(x), i)} for i, x in enumerate((queries, gallery))]
    return be.Scores(distance, queries, gallery, probe_meta=sides[0], gallery_meta=sides[1])
"""

SHOWN = """
import contextlib, io, json, warnings
from bioeval.cli import main

warnings.simplefilter("ignore")

def shown(call, *args):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        assert not call(*args)
    return text.getvalue()

def run(*args):
    return shown(main, ["run", *args])
"""

VERIFICATION = """
scores = be.simulate(20, 4, random_state=1)
other = be.simulate(20, 4, within=0.9, random_state=1)
be.save(scores, "scores.npz")
limits = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
interval = be.verification(scores, **limits)
compared = be.compare(scores, other, **limits).sel(measure="max Youden's J")
folds = be.cross_evaluate(scores, be.partition.SubjectKFold(4), **limits)
given = be.verification(scores, thresholds=[6.0, 7.0])
run("scores.npz", "--protocol", "course-kfold", "--out", "folds")
run("scores.npz", "--out", "whole")
print(json.dumps({
    "value": interval.max_youden.item(),
    "threshold": interval.max_youden_threshold.item(),
    "names": [interval[x].attrs["long_name"] for x in ("max_youden", "max_youden_threshold")],
    "interval": [interval.max_youden_low.item(), interval.max_youden_high.item()],
    "compared": [*compared.value.values.tolist(), compared.separated[0, 1].item()],
    "folds": folds.youden_summary.sel(statistic="mean").item(),
    "table": run("scores.npz"),
    "json": json.loads(run("scores.npz", "--json"))["tasks"]["verification/single"]["max_youden"],
    "csv": open("folds/folds_verification_single.csv").readline(),
    "false": given.false_among_accepted.sel(threshold=6.0).item(),
    "false in table": shown(be.show, given),
    "false in csv": open("whole/verification_single.csv").readline(),
    "false of folds": [folds.false_among_accepted_summary.sel(statistic=x).item()
                       for x in ("pooled", "low", "high")],
    "counts of folds": [int(folds[x].sum()) for x in ("fa", "ga")],
}))
"""

RETRIEVAL = """
from pathlib import Path
from bioeval.tasks.reid.results import GOM, REID
from bioeval.tasks.lists.results import TOP_K

method = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
scores, limits = retrieval(1), {"interval": method}
be.save(scores, "queries.npz")
found = be.reid(scores, per_query=True, **limits)
zero = be.reid(retrieval(1, strangers=1), unmatched="zero")
order = np.argsort(scores.values, axis=1)
sides = {"probe_meta": scores.probe_meta, "gallery_meta": scores.gallery_meta}
labels = scores.probe_labels, scores.gallery_labels
lists = be.reid(be.TopKScores(order[:, :20], *labels, **sides), **limits)
short = be.reid(be.TopKScores(order[:, :1], *labels, **sides))
compared = be.compare(scores, retrieval(2), protocol="market1501", **limits)
gom = be.gom(scores)
market = "queries.npz", "--protocol", "market1501"
run(*market, "--per-query", "--out", "out", "--report", "page.html")
names = ("mean_first_rank", "mean_ap_at_5")
print(json.dumps({
    "values": {x: [float(ds[x]) for ds in (found, lists, zero, short)] for x in names},
    "interval": {x: [float(ds[f"{x}_{end}"]) for ds in (found, lists) for end in ("low", "high")]
                 for x in names},
    "each": {x: found[x].values.tolist() for x in ("first_rank", "ap_at_5")},
    "compared": {label: compared.value.sel(measure=label).values.tolist() + [
                     float(compared.sel(measure=label)[x][0, 1]) for x in
                     ("difference", "difference_low", "difference_high")]
                 for label in ("mean first rank", "mAP at 5")},
    "gom": [float(gom.mean_first_rank), "mean_ap_at_5" in gom],
    "tables": [shown(be.show, x) for x in (found, lists, compared)]
    + [run("queries.npz", "--protocol", "gom-market1501")],
    "latex": be.to_latex(found, measures=["mean first rank", "mAP at 5"]),
    "json": json.loads(run(*market, "--json"))["tasks"]["reid"],
    "csv": "".join(x.read_text() for x in sorted(Path("out").glob("*.csv"))),
    "page": Path("page.html").read_text(),
    "described": [name in x for x in (REID, TOP_K, GOM) for name in
                  ("mean_first_rank", "mean_first_rank_low", "mean_ap_at_5")],
}))
"""


def run(program: str, folder) -> dict:
    """Run a program on a package with the entries of a stranger."""
    code = REGISTRY + DATA + SHOWN + program
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(ENTRIES)],
        cwd=folder, capture_output=True, text=True, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def distances(scores: be.Scores) -> tuple[np.ndarray, np.ndarray]:
    values, labels = np.asarray(scores.values), scores.probe_labels
    same = labels[:, None] == labels
    return values[same & ~np.eye(len(labels), dtype=bool)], values[~same]


def youden(scores: be.Scores) -> tuple[float, float]:
    """The largest GAR - FAR over all thresholds, and minus its threshold, by the definition."""
    genuine, impostor = distances(scores)
    return max(((genuine <= t).mean() - (impostor <= t).mean(), -t) for t in np.unique(genuine))


def test_one_entry_is_all_that_a_rate_and_its_best_value_need(tmp_path):
    found = run(VERIFICATION, tmp_path)
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
    assert 0 < found["folds"] <= 1
    assert "Youden's J" in found["table"]
    assert found["json"] == pytest.approx(first, abs=1e-12)
    assert "youden" in found["csv"] and "false_among_accepted" in found["csv"]

    genuine, impostor = distances(be.simulate(20, 4, random_state=1))
    false, right = (impostor <= 6).sum(), (genuine <= 6).sum()
    assert found["false"] == false / (false + right)
    assert "false among accepted" in found["false in table"]
    assert "false_among_accepted" in found["false in csv"]
    pooled, low, high = found["false of folds"]
    fa, ga = found["counts of folds"]
    assert low < pooled == fa / (fa + ga) < high


def queries(seed: int) -> tuple[float, float]:
    """Mean rank of the first match, and mean AP of the first five entries, by plain loops."""
    drawn: dict = {}
    exec(DATA, drawn)
    scores = drawn["retrieval"](seed)
    ranks, precisions = [], []
    for row, label in zip(np.asarray(scores.values), scores.probe_labels, strict=True):
        matches = [scores.gallery_labels[i] == label for i in np.argsort(row)]
        ranks.append(1 + matches.index(True))
        hits = [k for k in range(5) if matches[k]]
        precisions.append(sum(sum(matches[: k + 1]) / (k + 1) for k in hits) / sum(matches))
    return sum(ranks) / len(ranks), sum(precisions) / len(precisions)


def test_one_entry_is_all_that_a_mean_over_queries_needs(tmp_path):
    found = run(RETRIEVAL, tmp_path)
    truth = dict(zip(("mean_first_rank", "mean_ap_at_5"), queries(1), strict=True))
    other = dict(zip(truth, queries(2), strict=True))
    labels = dict(zip(truth, ("mean first rank", "mAP at 5"), strict=True))
    for name, value in truth.items():
        whole, lists, zero, short = found["values"][name]
        assert whole == lists == pytest.approx(value)
        assert np.isnan(short)  # a list of one entry does not determine it
        low, high, low_of_lists, high_of_lists = found["interval"][name]
        assert low < value < high and (low, high) == (low_of_lists, high_of_lists)
        one, two, difference, *ends = found["compared"][labels[name]]
        assert [one, two] == [pytest.approx(value), pytest.approx(other[name])]
        assert difference == pytest.approx(one - two)
        if name == "mean_first_rank":
            assert np.isnan(ends).all()  # fewer than six people differ
        else:
            assert ends[0] < difference < ends[1]
        assert all(labels[name] in table for table in found["tables"][:3])
        assert found["json"][name] == whole
        assert labels[name] in found["page"]
    assert "mean first rank &" in found["latex"] and "mAP at 5" in found["latex"]
    # Of queries without a match, AP is 0; the rank of a match has no value.
    assert found["values"]["mean_ap_at_5"][2] == pytest.approx(truth["mean_ap_at_5"] * 0.9)
    assert np.isnan(found["values"]["mean_first_rank"][2])
    assert np.mean(found["each"]["first_rank"]) == pytest.approx(truth["mean_first_rank"])
    assert np.mean(found["each"]["ap_at_5"]) == pytest.approx(truth["mean_ap_at_5"])
    low, high = found["interval"]["mean_first_rank"][:2]
    shown = rf"mean first rank +{truth['mean_first_rank']:.2f} +\[{low:.2f}, {high:.2f}\]"
    assert re.search(shown, found["tables"][0])  # no per cent
    assert "first_rank" in found["csv"] and "ap_at_5" in found["csv"]
    assert found["gom"] == [pytest.approx(truth["mean_first_rank"]), False]
    assert "mean first rank" in found["tables"][3]
    assert found["described"] == [True] * 6 + [True, True, False]
