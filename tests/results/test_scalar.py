"""A measure of one's own is in every result, and is what its definition says."""

import naive
import numpy as np
import pytest

import bioeval as be


def youden(far, frr):
    return 1 - frr - far


def add_youden(**given):
    described = {"label": "J", "bounds": (-1, 1), "larger_is_better": True, "of_rates": youden}
    be.scalar("youden", "Youden's J: GAR - FAR", **(described | given))


@pytest.fixture(scope="module")
def systems():
    better, worse = (be.simulate(16, 4, within=w, random_state=1) for w in (0.6, 0.9))
    be.show(be.evaluate(better))  # what gathers scalars is loaded before any is added
    return better, worse


def largest(scores):
    """The largest GAR - FAR over all thresholds, and the strictest threshold of it."""
    attempts = naive.attempts_single(scores.values, scores.probe_labels)
    best = min(naive.roc_points(*attempts, "distance"), key=lambda p: p.far + p.frr)
    return float(1 - best.far - best.frr), best.threshold


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_its_best_value_over_all_thresholds(systems, kind, capsys):
    add_youden()
    scores = systems[0]
    value, threshold = largest(scores)
    sign = 1
    if kind == "similarity":
        sign = -1
        scores = be.Scores(-np.asarray(scores.values), scores.probe_labels, kind=kind)
    ds = be.verification(scores)
    assert ds.max_youden == pytest.approx(value, abs=1e-12)
    assert ds.max_youden_threshold == sign * threshold
    np.testing.assert_array_equal(ds.youden, 1 - ds.frr - ds.far)
    assert ds.max_youden.attrs["long_name"].startswith("Youden's J")
    be.show(ds)
    assert "max J" in capsys.readouterr().out
    assert be.summary(scores)["verification/single"]["max_youden"] == ds.max_youden


def test_in_comparisons_folds_repeats_and_partitions(systems):
    add_youden()
    false = (("fa",), ("fa", "ga"))
    be.scalar(
        "false_accepts", "proportion of accepted attempts that are impostors'", quotient=false
    )
    compared = be.compare(*systems)
    assert compared.max_youden[0] == pytest.approx(largest(systems[0])[0])
    row = compared.isel(system=0, other_system=1)
    low, high = row.max_youden_difference_low, row.max_youden_difference_high
    assert low < row.max_youden_difference < high
    assert row.max_youden_separated == 1
    for interval in ("people", be.stats.IntervalMethod("subject-bootstrap", replicates=100)):
        ds = be.verification(systems[0], interval=interval)
        assert -1 < ds.max_youden_low < ds.max_youden < ds.max_youden_high < 1
    folds = be.cross_evaluate(systems[0], be.partition.SubjectKFold(4))
    np.testing.assert_allclose(folds.youden, 1 - folds.frr - folds.far)
    summary = be.aggregate(folds, ("repeat", "fold")).sel(part="test")
    for name in ("youden", "false_accepts"):
        assert (
            summary[f"{name}_low"] < summary[name].sel(statistic="mean") < summary[f"{name}_high"]
        )
    fa, ga = (int(folds[name].sel(part="test").sum()) for name in ("fa", "ga"))
    pooled = summary.false_accepts.sel(statistic="pooled")
    assert pooled == pytest.approx(fa / (fa + ga), rel=1e-12)
    halves = be.partition.SubjectShuffleSplit(3, test_size=0.5, random_state=0)
    numbers = be.repeat(systems[0], halves)["verification/single"]
    assert numbers.max_youden.shape == (3,)


def test_a_second_call_replaces_the_first(systems, capsys):
    add_youden()
    add_youden(label="index", larger_is_better=False, of_rates=lambda far, frr: far + frr - 1)
    ds = be.verification(systems[0])
    assert ds.min_youden == pytest.approx(-largest(systems[0])[0])
    be.show(ds)
    assert "min index" in capsys.readouterr().out
    assert "max_youden" not in ds


def doubled_in_place(far, frr):
    far *= 2
    return far


def changed_only_if_few(far, frr):
    """Change the FAR of a result, but not the FAR of a large trial."""
    if far.size < 1000:
        far[...] = 0.5
    return far + 0


def test_a_function_cannot_change_the_rates(systems):
    """The function is refused at once, or at its first use; the results stay unchanged."""
    scores = systems[0]
    before = be.verification(scores, thresholds=[3.0, 4.0])
    with pytest.raises(be.DataError, match="`of_rates` fails on arrays of FAR and FRR, which it"):
        be.scalar("mine", "FAR", of_rates=doubled_in_place)
    be.scalar("mine", "FAR", of_rates=changed_only_if_few)
    with pytest.raises(
        be.DataError, match="`of_rates` fails .*: ValueError: assignment destination"
    ):
        be.verification(scores, thresholds=[3.0, 4.0])
    be.scalar("mine", "FAR", of_rates=lambda far, frr: far)
    after = be.verification(scores, thresholds=[3.0, 4.0])
    assert after[list(before)].equals(before)
    after.mine[...] = 7
    np.testing.assert_array_equal(after.far, before.far)


NO_MEASURES = [
    ({"name": "var"}, "datasets have a method var"),
    ({"name": "a b"}, "no name of a variable"),
    ({"of_rates": None, "quotient": (("fa",), ("people",))}, "expected two tuples of the counts"),
    ({"of_rates": None, "quotient": "fa"}, "expected two tuples of the counts"),
    ({"quotient": (("fa",), ("ga",))}, "expected one of `of_rates` and `quotient`"),
    ({"of_rates": 0.5}, "`of_rates` is 0.5; expected a function"),
    ({"of_rates": lambda far, frr: (far - 0.5) ** 2}, "not monotone in FAR: it rises"),
    ({"of_rates": lambda far, frr: (frr - 0.003) ** 2}, "not monotone in FRR: it rises"),
    ({"of_rates": lambda far, frr: 0.5}, r"returns shape \(\) for rates of shape"),
    ({"of_rates": lambda far, frr: far[:1]}, r"returns shape \(1, \d+\) for rates of shape"),
    ({"of_rates": lambda far, frr: far - frr}, "`of_rates` is -1 to 1; expected values within"),
    ({"of_rates": lambda far, frr: far / 0}, "`of_rates` is infinite or NaN at all rates"),
    ({"of_rates": lambda far, frr: far + 0j}, "`of_rates` fails on .* TypeError: Cannot cast"),
    ({"of_rates": lambda far, frr: 1 / 0}, "`of_rates` fails on .* ZeroDivisionError: division"),
    ({"of_rates": lambda far: far}, "`of_rates` fails on .* TypeError"),
    ({"of_rates": doubled_in_place}, "`of_rates` fails on .* ValueError: .*read-only"),
    ({"bounds": (1, 0)}, "expected two increasing numbers"),
    ({"label": 3}, "`label` is 3; expected text"),
]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        *NO_MEASURES,
        ({"name": "eer"}, '`name="eer"`: there is a variable eer already'),
        ({"name": "threshold"}, "there is a variable threshold already"),
        ({"name": "rank"}, "there is a variable rank already"),
        ({"of_rates": None}, "expected one of `of_rates` and `quotient`"),
    ],
)
def test_what_is_no_measure(given, says):
    described = {"name": "mine", "meaning": "x", "of_rates": lambda far, frr: far}
    with pytest.raises(be.DataError, match=says):
        be.scalar(**(described | given))
    assert "mine" not in be.verification(be.simulate(3, 2))
