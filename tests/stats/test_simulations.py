"""The simulations of docs/uncertainty.md: populations, their true rates, and a tiny run."""

import csv
from pathlib import Path

import numpy as np
import pytest
import simulations
from scipy.stats import norm

import bioeval as be


def test_true_rates_of_people_who_are_alike_are_those_of_normal_distances():
    known = simulations.truth("E", 20, 4000)
    spread = np.hypot(np.sqrt(2) * simulations.TEMPLATE, simulations.PAIR)
    strict, usual = known.thresholds
    far = norm.cdf((np.array([strict, usual]) - simulations.APART) / spread)
    assert far == pytest.approx([0.001, 0.01], rel=0.15)
    middle = simulations.APART / 2 / spread
    truth = known.values
    assert truth["EER"] == pytest.approx(norm.sf(middle), rel=0.1)
    assert truth["AUC"] == pytest.approx(norm.cdf(np.sqrt(2) * middle), abs=5e-4)
    assert truth["FRR"] == pytest.approx(norm.sf(usual / spread), rel=0.1)


@pytest.mark.parametrize("population", simulations.POPULATIONS)
def test_true_rates_are_those_that_results_have_on_average(population):
    """A truth of one data set is what the calls say of the same data set."""
    known = simulations.truth(population, 20, 20)
    drawn = simulations.POPULATIONS[population](
        rng := np.random.default_rng([7, *map(ord, population), 20]), 20
    )
    scores = drawn.scores(drawn.distances(rng))
    verified = be.verification(scores, thresholds=known.thresholds, far_targets=simulations.TARGETS)
    opened = be.open_set(scores, far_targets=[simulations.SEARCH_TARGET], max_rank=1)
    truth = known.values
    assert verified.far.values == pytest.approx([truth["FAR 0.1 %"], truth["FAR 1 %"]], abs=0.01)
    assert verified.frr.values[1] == pytest.approx(truth["FRR"], abs=0.01)
    assert verified.eer.item() == pytest.approx(truth["EER"], abs=0.01)
    assert verified.auc.item() == pytest.approx(truth["AUC"], abs=1e-3)
    at_targets = [truth["FRR at FAR 1 %"], truth["FRR at FAR 5 %"]]
    assert verified.frr_at_far.values == pytest.approx(at_targets, abs=0.01)
    assert be.closed_set(scores).recognition_rate.item() == pytest.approx(truth["rank 1"])
    assert opened.dir_at_far.item() == pytest.approx(truth["DIR at FAR 10 %"], abs=0.01)


def test_populations_differ_as_they_say():
    rng = np.random.default_rng(1)
    drawn = {name: draw(rng, 1000) for name, draw in simulations.POPULATIONS.items()}
    assert not drawn["E"].genuine.any()
    assert 0 < np.count_nonzero(drawn["F"].genuine) < 10
    assert np.bincount(drawn["U"].templates)[[2, 40]].tolist() == [900, 100]
    assert len(np.unique(drawn["C"].genuine)) == len(np.unique(drawn["C"].group)) == 100
    small = simulations.POPULATIONS["S"](rng, 3).distances(rng)
    assert not (small % 0.5).any()


@pytest.mark.slow
def test_a_tiny_run_goes_on_where_it_stopped_and_prints_a_table(tmp_path: Path):
    out = tmp_path / "coverage.csv"
    cells = [("E", 12), ("C by session", 40)]
    parts = ["limits", "promises", "winners", "zoo"]
    simulations.run(out, cells[:1], 1, parts, 600)
    first = out.read_text()
    simulations.run(out, cells, 1, parts, 600)
    assert out.read_text().startswith(first)
    rows = list(csv.DictReader(out.read_text().splitlines()))
    of_cell = {
        cell: [x for x in rows if (x["population"], int(x["people"])) == cell] for cell in cells
    }
    assert [len(x) for x in of_cell.values()] == [11 + 10 + 9, 11 + 10]
    printed = list(simulations.table([out]))
    assert "EER | 100 - | - 100" in printed
    assert printed[-1] == "1 to 1 data sets a cell"


def assert_limits_are_of_the_people(seed):
    """Limits rise or fall along each curve, whatever the order of people and the threads."""
    rng = np.random.default_rng(seed)
    population = rng.choice([*simulations.POPULATIONS])
    people = simulations.POPULATIONS[population](rng, int(rng.integers(4, 25)))
    values, who = people.distances(rng), people.who
    some = np.sort(rng.choice(len(who), int(len(who) * rng.uniform(0.5, 1)), replace=False))
    values, who = values[np.ix_(some, some)], who[some]
    order = rng.permutation(len(who))
    at = np.unique(np.quantile(values, np.linspace(0, 1, 40)))
    results = []
    for rows, names, threads in (
        (np.arange(len(who)), who, 1),
        (np.arange(len(who)), who, 2),
        (order, rng.permutation(who.max() + 1)[who], 1),
    ):
        scores = be.Scores(values[np.ix_(rows, rows)], names[rows])
        with be.set_options(threads=threads):
            verified = be.verification(
                scores, thresholds=at, far_targets=[0.1, 0.01], interval="people"
            )
            opened = be.open_set(
                scores, thresholds=at, far_targets=[0.1], max_rank=3, interval="people"
            )
            closed = be.closed_set(scores, max_rank=3, interval="people")
        results.append(
            {
                f"{result.task}, {name}": variable.values
                for result in (verified, opened, closed)
                for name, variable in result.data_vars.items()
                if name.endswith(("_low", "_high"))
            }
        )
    first = results[0]
    assert len(first) > 20
    for other in results[1:]:
        for name, limits in first.items():
            np.testing.assert_allclose(other[name], limits, rtol=1e-9, atol=1e-12, err_msg=name)
    for result, names in ((verified, ("far", "frr")), (opened, ("far", "dir"))):
        for name in names:
            for end in ("low", "high"):
                along = result[f"{name}_{end}"].transpose("threshold", ...).values
                steps = np.diff(along, axis=0) * (-1 if name == "frr" else 1)
                assert not (steps < -1e-12).any(), (name, end)
    ranks = np.diff([closed.cms_low.values, closed.cms_high.values])
    assert not (ranks < -1e-12).any()


@pytest.mark.parametrize("seed", range(3))
def test_limits_are_monotone_and_depend_on_people_alone(seed):
    assert_limits_are_of_the_people(seed)


def test_limits_of_many_scores_with_steps_include_those_of_the_next_step():
    """More than 65,536 comparisons are counted in cells; scores with steps keep all their steps."""
    rng = np.random.default_rng(2)
    people = simulations.POPULATIONS["S"](rng, 70)
    scores = people.scores(people.distances(rng))
    at = np.unique(scores.values)
    result = be.verification(scores, thresholds=at, far_targets=[0.05], interval="people")
    chosen = np.flatnonzero(result.far.values <= 0.05)[-1]
    assert result.impostor_attempts > 65_536
    assert result.far_high[chosen] > 0.05
    next_limits = result.frr_high[chosen - 1].item()
    assert next_limits > result.frr_high[chosen].item()
    assert result.frr_at_far_high.item() >= next_limits - 1e-12
