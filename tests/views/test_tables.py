"""The table: values are those of the datasets, each row says what it is over."""

from __future__ import annotations

import io

import numpy as np
import pytest
import xarray as xr
from result_text import as_text
from rich.console import Console

import bioeval as be
from bioeval.base.messages import Message, as_json
from bioeval.tables.sections import table_of
from bioeval.views.writers.lines import written

TARGETS = [0.1, 0.01, 0.001, 0.0001]


def verification(genuine=900, impostor=60_000, **values) -> xr.Dataset:
    """A dataset as verification returns it, with made-up operating points."""
    points = {
        "eer": 0.0333,
        "eer_threshold": 4.123456789,
        "zero_far": 0.4,
        "zero_frr": 0.51234,
        "auc": 0.991234,
        "d_prime": 4.31,
        **values,
    }
    grid = np.linspace(1, 2, 50)
    made = xr.Dataset(
        {
            "far": ("threshold", np.linspace(0, 1, 50)),
            "frr": ("threshold", np.linspace(1, 0, 50)),
            "genuine_attempts": genuine,
            "impostor_attempts": impostor,
            "frr_at_far": ("far_target", [0.0, 0.0123, 0.1234, 1.0]),
            "threshold_at_far": ("far_target", [4.0, 3.3, 2.2, -np.inf]),
            **points,
        },
        {"threshold": grid, "far_target": TARGETS},
        {
            "task": "verification, single-template",
            "templates": "single",
            "layout": "all-against-all",
            "kind": "distance",
            "probes": 249,
            "probe_subjects": 60,
            "gallery_templates": 249,
            "gallery_subjects": 60,
        },
    )
    for name in ("eer_threshold", "threshold_at_far"):
        made[name].attrs = {"units": "score", "keeps": "far"}
    made["threshold"].attrs = {"units": "score", "keeps": "exact"}
    return made


def open_set(**values) -> xr.Dataset:
    rates = np.array([[0.9, 0.95], [0.5, 0.6], [0.1, 0.2], [0.0, 0.1]])
    points = {"eer": np.nan, "dir_at_far": (("far_target", "rank"), rates), **values}
    return xr.Dataset(
        {
            "dir": (("threshold", "rank"), np.zeros((50, 2))),
            "far": ("threshold", np.zeros(50)),
            "genuine_attempts": 249,
            "impostor_attempts": 200,
            **points,
        },
        {"threshold": np.arange(50.0), "rank": [1, 2], "far_target": TARGETS},
        {
            "task": "open-set identification",
            "rank_unit": "template",
            "fusion": "none",
            "ties": "pessimistic",
            "impostors": "leave-subject-out",
            "probe_subjects": 60,
            "enrolled_subjects": 60,
            "genuine_gallery_subjects": 60,
            "impostor_gallery_subjects": "59",
        },
    )


def row(text: str, name: str) -> str:
    """The one row with a name."""
    (line,) = [line for line in text.splitlines() if line.strip().startswith(name)]
    return " ".join(line.split())


def test_rows_of_verification():
    text = as_text(verification())
    assert "249 templates of 60 subjects, all against all" in text
    assert "distances, accepted at or below the threshold" in text
    over = "900 genuine and 60,000 impostor attempts of 60 subjects"
    assert f"Verification, single-template: {over}\n" in text
    assert row(text, "EER") == "EER 3.33 % 4.12345"
    assert row(text, "FRR at FAR <= 10 %") == "FRR at FAR <= 10 % 0.00 % 4.00000"
    assert row(text, "FRR at FAR <= 1 %") == "FRR at FAR <= 1 % (FMR100) 1.23 % 3.30000"
    assert row(text, "FRR at FAR <= 0.1 %").startswith("FRR at FAR <= 0.1 % (FMR1000) 12.34 % 2.2")
    assert row(text, "FRR at FAR <= 0.01 %") == "FRR at FAR <= 0.01 % 100.00 % -inf"
    assert row(text, "FRR at FAR = 0") == "FRR at FAR = 0 (ZeroFMR) 40.00 %"
    assert row(text, "FAR at FRR = 0") == "FAR at FRR = 0 (ZeroFNMR) 51.23 %"
    assert row(text, "AUC") == "AUC 0.99123"
    assert row(text, "d'") == "d' 4.310"
    assert "n/a" not in text
    assert "Warnings" not in text


def test_decimals_show_one_attempt():
    """1 of 900 is 0.11 %, 1 of 36,000 is 0.0028 %."""
    assert row(as_text(verification(eer=1 / 900)), "EER").startswith("EER 0.11 %")
    assert row(as_text(verification(36_000, eer=1 / 36_000)), "EER").startswith("EER 0.003 %")


def test_rows_of_open_set():
    text = as_text(open_set())
    said = " ".join(text.split())
    assert "N = 60 subjects (59 for impostor attempts); the rank counts templates" in said
    assert "ties: the mate ranks last (pessimistic)" in said
    assert row(text, "DIR at FAR <= 1 %") == "DIR at FAR <= 1 %, rank 1 50.00 %"
    assert row(text, "EER") == "EER, rank 1 n/a"
    many = open_set().assign_attrs(genuine_gallery_subjects=2000, impostor_gallery_subjects=1999)
    assert "N = 2,000 subjects (1,999 for impostor attempts); the rank" in as_text(many)
    unknown = open_set().assign_attrs(
        genuine_gallery_subjects=0, impostor_gallery_subjects=0, gallery_templates=20
    )
    assert "gallery of 20 templates of unknown subjects; the rank" in as_text(unknown)
    assert "n/a: FAR and 1 - DIR do not cross" in text


def test_rows_of_closed_set():
    scores = be.Scores([[1, 4, 6], [5, 3, 2]], ["ann", "bob"], ["ann", "bob", "cat"])
    text = as_text(be.closed_set(scores))
    assert row(text, "CMS, rank 1") == "CMS, rank 1 (recognition rate) 50.00 %"
    assert "rank 5" not in text  # there are three candidates


def ranks_shown(dataset: xr.Dataset) -> list[str]:
    lines = as_text(dataset).splitlines()
    return [line.split()[2] for line in lines if line.startswith("  CMS, rank ")]


def test_ranks_that_the_card_asks_for():
    dataset = be.closed_set(be.simulate(10, 3, random_state=0)).drop_attrs()
    assert ranks_shown(dataset) == ["1", "5", "10"]
    assert ranks_shown(dataset.assign_attrs(report_ranks="1 3 20 1000")) == ["1", "3", "20"]
    assert ranks_shown(dataset.assign_attrs(report_ranks="1000")) == ["1"]


def test_subjects_are_those_who_made_the_attempts():
    """Three probe subjects, one of them not in the gallery."""
    d = [[1.0, 4, 6], [5, 1, 2], [3, 3, 3]]
    scores = be.Scores(d, ["ann", "bob", "eve"], ["ann", "bob", "cat"])
    tree = be.evaluate(scores, thresholds=[2.5, 3.5])
    for path in ("verification/single", "open_set"):
        assert " of 3 subjects" in as_text(tree[path].to_dataset()).partition("EER")[0]
    everyone = be.open_set(scores, impostors="leave-subject-out")
    assert " of 2 subjects" in as_text(everyone)
    assert "2 genuine attempts of 2 subjects" in as_text(tree["closed_set"].to_dataset())


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"genuine": 0, "eer": np.nan}, "0 genuine attempts"),
        ({"impostor": 0, "eer": np.nan}, "0 impostor attempts"),
        ({"genuine": 0, "impostor": 0, "eer": np.nan}, "0 genuine and 0 impostor attempts"),
        ({"d_prime": np.nan}, "the scores of both classes have no spread"),
    ],
)
def test_what_is_not_defined_says_why(values, why):
    text = as_text(verification(**values))
    assert "n/a" in row(text, "d'" if "d_prime" in values else "EER")
    assert f"n/a: {why}\n" in text
    assert "nan" not in text


def test_without_operating_points_there_are_rates():
    """FAR and FRR at d <= 2: one of three genuine attempts, two of nine others."""
    d = [[0, 1, 4, 6], [2, 0, 5, 2], [4, 2, 0, 3], [6, 3, 9, 0]]
    scores = be.Scores(d, ["ann", "ann", "bob", "cat"])
    dataset = be.verification(scores, thresholds=[1.5, 2])
    kept = dataset[["far", "frr", "genuine_attempts", "impostor_attempts"]]
    text = as_text(kept)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "2 genuine and 10 impostor attempts of 3 subjects" in text
    assert "FAR 0.00 % 1.5" in lines
    assert "FRR 50.00 % 1.5" in lines
    assert "FAR 20.00 % 2.0" in lines
    assert "FRR 0.00 % 2.0" in lines


def test_warnings_are_told_once():
    one, two = (
        Message("infinite-scores-left-out", attempts=2),
        Message("one-gallery", column="camera"),
    )
    both, here = as_json([one]), as_json([one, two])
    tree = xr.DataTree.from_dict(
        {
            "/verification/single": verification().assign_attrs(messages=both),
            "/open_set": open_set().assign_attrs(messages=here),
        }
    )
    text = as_text(tree, 1000)
    first, second = map(written, (one, two))
    assert text.count(first) == 1
    warnings = text.partition("Warnings\n")[2]
    assert warnings == f"  - {first}\n  Open-set identification\n  - {second}\n"


@pytest.mark.parametrize("width", [18, 20, 30, 40, 60, 79, 80, 100, 200])
def test_every_width(width):
    text = as_text(xr.DataTree.from_dict({"/verification/single": verification()}), width)
    assert max(map(len, text.splitlines())) <= width
    whole = " ".join(text.split())
    value = "51.23 %" if width > 20 else "value 51.23 %"
    assert f"FAR at FRR = 0 (ZeroFNMR) {value}" in whole or 20 < width < 79
    assert "900 genuine and 60,000 impostor attempts of 60 subjects" in whole
    assert "EER 3.33 % 4.12345" in whole or width < 60


def test_names_are_not_markup():
    """A system called [red] or :smile: is shown as it is called."""
    scores = be.Scores(np.eye(2), [1, 2], name="[red]:smile:[/]")
    assert row(as_text(be.closed_set(scores)), "Data").startswith("Data [red]:smile:[/]: ")
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=80).print(table_of(be.closed_set(scores)))
    assert "[red]:smile:[/]" in stream.getvalue()


@pytest.mark.parametrize("width", [20, 40, 100])
def test_ranked_lists_alone_have_neither_thresholds_nor_impostors(width):
    meta = {"camera": [1, 2, 1, 2]}
    scores = be.Scores(
        np.random.default_rng(1).random((4, 4)), [1, 1, 2, 2], [1, 1, 2, 2],
        probe_meta=meta, gallery_meta=meta,
    )  # fmt: skip
    text = as_text(be.evaluate(scores, "market1501"), width)
    assert "threshold" not in text.partition("Re-identification")[2]
    assert "impostor" not in text
    assert " at " not in text.partition("mAP")[2].splitlines()[0]
    if width == 100:
        assert "Re-identification: 4 queries of 2 subjects" in text


def test_a_task_without_attempts_is_one_line():
    nobody = be.Scores([[1.0, 2.0], [2.0, 3.0]], ["x", "y"], ["a", "b"])
    text = as_text(be.evaluate(nobody))
    assert "\n\nOpen-set identification: no results (0 genuine attempts)\n\n" in text
    assert "\n\nClosed-set identification: no results (0 genuine attempts)\n" in text
    assert "n/a" not in text and "threshold  " not in text
    assert text.count("genuine attempt") == 3  # not again among the warnings
    assert "no subject of a probe is in the gallery" in text


def test_min_dcf_has_its_interval_in_the_table():
    """At each prior, as in the data."""
    costs = [(0.01, 1, 1), (0.05, 1, 1)]
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
    ds = be.verification(be.simulate(30, 4, random_state=1), costs=costs, **options)
    lines = [line for line in be.to_markdown(ds).splitlines() if "minDCF at prior" in line]
    assert len(lines) == 2
    for line, low, high in zip(lines, ds.min_dcf_low, ds.min_dcf_high, strict=True):
        assert f"{low.item():.4f}"[:5] in line and f"{high.item():.4f}"[:5] in line
