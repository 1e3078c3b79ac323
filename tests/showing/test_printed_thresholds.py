"""Every attempt is decided by a printed threshold as by the exact one: a row has its rates."""

import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from limits import blocks_of
from report_text import answer, plain, rates
from result_text import as_text

import bioeval as be

KINDS = ["distance", "similarity"]
NUMBER = r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
TYPES = (np.int32, np.float32, np.float64)

#: The rows of verification that have a threshold: their labels, and the variable.
ROWS = {
    "EER": "eer_threshold",
    "FRR at FAR <= 10 %": "threshold_at_far",
    "FAR at FRR <= 30 %": "threshold_at_frr",
    "FRR at an observed FAR of 0 (ZeroFMR)": "zero_far_threshold",
    "FAR at an observed FRR of 0 (ZeroFNMR)": "zero_frr_threshold",
    "minDCF at prior 0.3": "min_cost_threshold",
}


class World(NamedTuple):
    """Small random scores, and their genuine and impostor attempts."""

    scores: be.Scores
    genuine: np.ndarray
    impostor: np.ndarray

    @classmethod
    def of(cls, scores: be.Scores) -> "World":
        genuine = scores.probe_labels[:, None] == scores.probe_labels
        exact = np.asarray(scores.values).astype(np.float64)
        is_other_template = ~np.eye(len(exact), dtype=bool)
        return cls(scores, exact[genuine & is_other_template], exact[~genuine])

    def decided(self, threshold: float) -> tuple[int, int]:
        """False accepts and false rejects at a threshold, by definition."""
        if self.scores.kind == "distance":
            return int((self.impostor <= threshold).sum()), int((self.genuine > threshold).sum())
        return int((self.impostor >= threshold).sum()), int((self.genuine < threshold).sum())

    @property
    def rates(self) -> dict[str, int]:
        return {"FAR": len(self.impostor), "FRR": len(self.genuine)}


def world(seed: int, kind: str = "", people: int = 10) -> World:
    """Scores of any type, in a scale from 1e-6 to 1e6, with ties, of either sign."""
    rng = np.random.default_rng(seed)
    kind = kind or KINDS[seed % 2]
    dtype, scale = TYPES[seed % 3], 10.0 ** rng.uniform(-6, 6)
    labels = np.repeat(np.arange(people), 3)
    genuine = labels[:, None] == labels
    values = rng.normal(3.0, 1, genuine.shape) - 1.8 * genuine + rng.choice([0, -3, 20])
    if rng.random() < 0.4:
        values = values.round(1)
    if dtype is np.int32:
        values, scale = values * 100, 1 + scale % 100
    values = (values * scale if kind == "distance" else -values * scale).astype(dtype)
    meta = {"sex": np.arange(len(labels)) // 3 % 2}
    return World.of(be.Scores(values, labels, kind=kind, probe_meta=meta, name="one"))


def simulated(kind: str, dtype: type, seed: int = 1) -> World:
    """Scores of which thirty people have enough to be counted in place of kept."""
    drawn = be.simulate(30, 4, random_state=seed)
    values = np.asarray(drawn.values).astype(dtype)
    return World.of(
        be.Scores(values if kind == "distance" else -values, drawn.probe_labels, kind=kind)
    )


def evaluated(scores: be.Scores) -> Any:
    return be.verification(scores, far_targets=[0.1], frr_targets=[0.3], costs=[(0.3, 1, 1)])


def cells_in(text: str) -> dict[str, tuple[str, str]]:
    """The value and the threshold of each row of verification, as they are printed."""
    for mark, meaning in (("\\%", "%"), ("\\,", " "), ("$\\leq$", "<="), ("$-$", "-")):
        text = text.replace(mark, meaning)
    words = " ".join(re.sub(r"[&|\\$]", " ", text).split())
    cells = {}
    for label in ROWS:
        row = re.search(rf"{re.escape(label)} (\S+)(?: %)? (-?inf|{NUMBER})(?= |$)", words)
        if row:
            cells[label] = row[1], row[2]
    return cells


def shortest(attempts: np.ndarray, threshold: float, kind: str, printed: str) -> bool:
    """Whether a decimal is before the next score, and no decimal with a digit less is."""
    sign = 1 if kind == "distance" else -1
    beyond = sign * attempts[sign * attempts > sign * threshold]
    if math.isinf(threshold):
        return printed in ("inf", "-inf")
    bound = sign * threshold + abs(threshold) / 100
    ends = sign * threshold, min(beyond.min(initial=math.inf), bound)
    if threshold == round(threshold):
        return printed == str(round(threshold))
    digits = len(re.sub(r"e.*|^-?0?\.?0*|\.|-", "", printed))
    step = 10.0 ** (math.floor(math.log10(abs(threshold))) - digits + 2)
    if step > 1:  # there would be a zero in place of a digit
        return True
    shorter = math.ceil(ends[0] / step) * step
    return not (ends[0] < shorter * (1 - 1e-9) and shorter * (1 + 1e-9) < ends[1])


@pytest.mark.parametrize("seed", range(200))
def test_each_row_has_the_rates_of_its_printed_threshold(seed):
    small_world = world(seed)
    ds = evaluated(small_world.scores)
    all_scores = np.concatenate([small_world.genuine, small_world.impostor])
    for show in (lambda x: as_text(x, verbose=True), be.to_markdown, be.to_latex):
        cells = cells_in(show(ds))
        assert len(cells) >= 5
        for label, (value, printed) in cells.items():
            exact = ds[ROWS[label]].values.item()
            assert small_world.decided(float(printed)) == small_world.decided(exact), label
            assert shortest(all_scores, exact, small_world.scores.kind, printed), (
                label,
                exact,
                printed,
            )
            free = label[:3] if label[:3] in small_world.rates and " at " in label else ""
            if free:
                errors = small_world.decided(float(printed))[free == "FRR"]
                rate = 100 * errors / small_world.rates[free]
                assert float(value) == pytest.approx(rate, abs=0.00501), label


STUDIES = {
    "zoo": lambda s, rule: be.zoo(s, threshold=rule, permutations=20),
    "by_group": lambda s, rule: be.by_group(s, "sex", threshold=rule),
    "explain": lambda s, rule: be.explain(s, 0, threshold=rule),
    "study_threshold": lambda s, rule: be.study_threshold(s, rule, folds=2, repeats=1),
}


def threshold_in(text: str) -> float:
    """The threshold of a text: the number that is named first."""
    number = rf"(?:[Tt]hreshold|accept where the \w+ [<>]=) {NUMBER}"
    return float(re.search(number, " ".join(text.split()))[1])


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("rule", ["eer", "far=0.05", "frr=0.05", "min-dcf=0.1"])
@pytest.mark.parametrize("study", STUDIES)
def test_the_threshold_of_a_study(study, rule, seed):
    small_world = world(1000 + seed)
    threshold = be.study_threshold(small_world.scores, rule, folds=2, repeats=1).threshold.item()
    printed = threshold_in(as_text(STUDIES[study](small_world.scores, rule), verbose=True))
    assert small_world.decided(printed) == small_world.decided(threshold)


@pytest.mark.parametrize("seed", range(40))
def test_a_threshold_of_two_sets_decides_both(seed):
    train, test = world(2000 + 6 * seed), world(2000 + 6 * (seed + 41))
    scaled = np.asarray(test.scores.values) * (np.ptp(train.impostor) / np.ptp(test.impostor))
    dtype = train.scores.values.dtype
    of_kind = np.asarray(train.scores.values)
    mixed = (0.3 * scaled + 0.7 * of_kind + of_kind.std() / 7).astype(dtype)
    scores = be.Scores(mixed, train.scores.probe_labels + 100, kind=train.scores.kind)
    ds = be.judge_threshold(train.scores, scores, "far=0.05")
    printed = threshold_in(as_text(ds))
    for part in (train, World.of(scores)):
        assert part.decided(printed) == part.decided(ds.threshold.item())


@pytest.mark.parametrize("kind", KINDS)
def test_counted_scores_are_decided_alike(kind):
    """Of many attempts the scores near a point are known, and else the type of the scores is."""
    counted_world = simulated(kind, np.float32)
    exact_cells = cells_in(be.to_markdown(evaluated(counted_world.scores)))
    with blocks_of(500):
        ds = evaluated(counted_world.scores)
        cells = cells_in(be.to_markdown(ds))
    assert cells.keys() == exact_cells.keys()
    for label, (_, printed) in cells.items():
        assert counted_world.decided(float(printed)) == counted_world.decided(
            ds[ROWS[label]].values.item()
        )
        assert len(printed) <= 12  # the digits of float32, not those of float64
    assert cells["FRR at FAR <= 10 %"] == exact_cells["FRR at FAR <= 10 %"]
    assert cells["EER"] == exact_cells["EER"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_threshold_of_two_counted_sets_is_short(kind):
    sets = [simulated(kind, np.float64, seed) for seed in (1, 2)]
    with blocks_of(500):
        ds = be.judge_threshold(sets[0].scores, sets[1].scores, "far=0.05")
    printed = threshold_in(as_text(ds))
    assert len(repr(printed)) < 12
    for part in sets:
        assert part.decided(printed) == part.decided(ds.threshold.item())


@pytest.mark.parametrize("kind", KINDS)
def test_a_given_threshold_has_all_its_digits(kind):
    """The rates are at exactly the given number."""
    scores, threshold = world(0 if kind == "distance" else 3, kind).scores, 4.123456789
    for result in (
        be.verification(scores, thresholds=[threshold]),
        be.zoo(scores, threshold=threshold, permutations=20),
        be.by_group(scores, "sex", threshold=threshold),
        be.explain(scores, 0, threshold=threshold),
        be.check_promise(scores, threshold, "far=0.1"),
        be.study_threshold(scores, threshold, folds=2, repeats=1),
    ):
        assert "4.123456789" in as_text(result, verbose=True)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", ["far", "frr"])
def test_the_page_has_one_threshold_that_decides_the_attempts_of_all_tasks(bound, kind, tmp_path):
    small_world = world(7 if kind == "similarity" else 8, kind)
    interval = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    study = be.study_threshold(
        small_world.scores, f"{bound}=0.05", folds=3, repeats=1, interval=interval
    )
    results = be.evaluate(small_world.scores, extra_thresholds=[study["threshold"].item()])
    zoo = be.zoo(small_world.scores, threshold=study["threshold"].item(), permutations=20)
    be.report([results, study, zoo], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    thresholds_shown = {x["threshold"] for x in rates(text)}
    assert len(thresholds_shown) == 1
    (printed,) = thresholds_shown
    assert f"accept where the {kind} {'<=' if kind == 'distance' else '>='} {printed}" in " ".join(
        answer(text)
    )
    (of_zoo,) = re.findall(r"At the threshold (\S+), the highest", plain(text))
    for printed_threshold in (printed, of_zoo):
        assert small_world.decided(float(printed_threshold)) == small_world.decided(
            study["threshold"].item()
        )
    searches = be.open_set(small_world.scores, thresholds=[float(printed)])
    exact = be.open_set(small_world.scores, thresholds=[study["threshold"].item()])
    assert searches.fa.equals(exact.fa.assign_coords(threshold=searches.threshold))
