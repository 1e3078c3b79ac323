"""Plots of attacks: the arrays are those of the result, and the page has the three classes."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from attacked import simulated_attacks
from matplotlib.colors import to_rgb

import bioeval as be
from bioeval.plot import plot_style as style


@pytest.fixture(autouse=True)
def nothing_left_behind():
    yield
    plt.close("all")


@pytest.fixture(scope="module", params=["distance", "similarity"])
def scores(request):
    made = simulated_attacks(20, 3, {"print": 0.5, "mask": 0.9}, random_state=1)
    if request.param == "distance":
        return made
    return be.Scores(
        -made.values, made.probe_labels, kind="similarity", probe_meta=made.probe_meta,
    )  # fmt: skip


@pytest.fixture(scope="module")
def result(scores):
    return be.vulnerability(scores, templates="single", threshold="far=0.01")


def test_a_species_without_attempts_is_said(result):
    none = result.copy()
    none["iapar_of_species"] = none["iapar_of_species"].where(none["species"] != "mask")
    display = be.plot.iapar(none)
    assert "mask" not in display.lines_
    assert "mask: no attempt" in "\n".join(t.get_text() for t in display.ax_.texts)


def test_three_histograms_count_the_attempts_of_the_result(scores, result):
    display = be.plot.attack_scores(result)
    cells, labels = scores.values, scores.probe_labels
    attack = scores.probe_meta["attack"] != ""
    own = labels[:, None] == labels[None, :]
    other = ~np.eye(len(labels), dtype=bool) & ~attack[None, :]
    expected = {
        "genuine": cells[own & other & ~attack[:, None]],
        "impostor": cells[~own & other & ~attack[:, None]],
        "attack": cells[own & other & attack[:, None]],
    }
    for name, values in expected.items():
        results = display.drawn[""].of(name)
        assert results.total == len(values)
        closed = "right" if scores.kind == "distance" else "left"
        counts = np.diff(np.searchsorted(np.sort(values), results.edges, side=closed))
        np.testing.assert_array_equal(results.counts, counts)
        if name != "attack":
            assert not results.unplaced
    colours = [to_rgb(x.get_color()) for x in display.legend_.legend_handles[:3]]
    assert colours == [style.Style.colour(k) for k in (style.GENUINE, style.IMPOSTOR, style.ATTACK)]
    used = float(result["threshold_used"])
    assert any(np.array_equal(line.get_xdata(), [used, used]) for line in display.ax_.lines)
