"""The limits of one measure are the same whatever else is asked for, and by whom."""

import numpy as np
import pytest

import bioeval as be

DRAWN = {"interval": be.stats.IntervalMethod("people", replicates=100, random_state=3)}
TARGET, COST = 0.01, (0.5, 1.0, 1.0)


def limits(ds, cost: int) -> dict[str, tuple[float, float]]:
    """Return the limits of EER, of FRR at a FAR and of the cost at a place."""
    places = {
        "eer": (),
        "frr_at_far": ds["far_target"].values.tolist().index(TARGET),
        "min_dcf": cost,
    }
    return {
        name: tuple(float(ds[f"{name}_{end}"].values[place]) for end in ("low", "high"))
        for name, place in places.items()
    }


# Scores that are listed, and those that are binned.
@pytest.mark.parametrize("people", [40, pytest.param(120, marks=pytest.mark.slow)])
def test_limits_depend_on_the_measure_alone(people):
    systems = {f"s{i}": be.simulate(people, 4, random_state=i) for i in range(5)}
    interval = {"interval": "people"}  # as each system by itself has them
    scores = systems["s0"]
    alone = be.verification(scores, far_targets=[TARGET], costs=[COST], **interval)
    further = be.verification(
        scores,
        far_targets=[0.3, 0.1, 0.05, 0.02, TARGET, 0.005],
        frr_targets=[0.01, 0.2],
        costs=[(0.01, 1, 1), COST, (0.3, 2, 1)],
        thresholds=[2.0, 2.5, 3.0],
        **interval,
    )
    expected = limits(alone, 0)
    for name, ends in limits(further, 1).items():
        np.testing.assert_allclose(ends, expected[name], rtol=1e-12, err_msg=name)
    of_task = be.evaluate(scores, **interval)["verification/single"].dataset
    for name, ends in limits(of_task, 0).items():
        np.testing.assert_allclose(ends, expected[name], rtol=1e-12, err_msg=name)
    named = {"eer": "eer", "frr_at_far": "frr_at_far=0.01", "min_dcf": "min_dcf=0.5"}
    for number in (2, 5):
        some_systems = {name: systems[name] for name in list(systems)[:number]}
        together = be.compare(some_systems, measures=list(named.values()), **DRAWN)
        for name in named:
            alone_compared = be.compare(some_systems, measures=[named[name]], **DRAWN)
            for ranking in (together, alone_compared):
                ends = [ranking[f"{name}_{end}"].values.flat[0] for end in ("low", "high")]
                np.testing.assert_allclose(ends, expected[name], rtol=1e-12, err_msg=name)
