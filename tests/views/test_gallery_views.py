"""Plots and tables of galleries of one template of each subject, and of gallery sizes."""

import pytest
from result_text import as_text
from twins import one_thread  # noqa: F401

import bioeval as be


@pytest.fixture(scope="module")
def scores():
    return be.simulate(20, (1, 4), within=0.9, random_state=1)


def test_tables_say_which_galleries(scores):
    exact = be.closed_set(scores, gallery="single")
    assert (
        "1 template of each subject, drawn anew for each probe; exact mean over all draws"
        in as_text(exact)
    )
    assert "of each subject" not in as_text(be.closed_set(scores))


def test_tables_give_the_bounds_of_operating_points(scores):
    ds = be.open_set(scores, gallery="single", thresholds=100, far_targets=[0.1, 0.01])
    text = as_text(ds, 200)
    rows = {line[2:38].strip(): line[38:] for line in text.splitlines() if line.startswith("  ")}
    for end in ("at least", "at most"):
        name = end.replace(" ", "_")
        assert f"{100 * ds[f'eer_{name}'].item():.2f} %" in rows[f"EER, rank 1, {end}"]
        for i, target in enumerate(("10 %", "1 %")):
            rate = 100 * ds[f"dir_at_far_{name}"][i, 0].item()
            assert f"{rate:.2f} %" in rows[f"DIR at FAR <= {target}, rank 1, {end}"]
    assert "DIR, rank 1" not in rows  # at thresholds that were not given
    few = be.open_set(scores, gallery="single", thresholds=[3.0], far_targets=[0.1])
    assert "DIR, rank 1 " in as_text(few, 200) and "EER, rank 1, at least" in as_text(few, 200)
