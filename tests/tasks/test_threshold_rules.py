"""One grammar of rules for every `threshold`: numbers, names, texts and tuples, and one message."""

import functools

import naive
import numpy as np
import pytest

import bioeval as be
from bioeval.counting.threshold_rules import Rule

KINDS = ("distance", "similarity")


def scores_of(kind: str) -> be.Scores:
    """Probes against a gallery."""
    rng = np.random.default_rng(4)
    who = np.repeat(np.arange(12), 3)
    values = rng.normal(5, 1, (36, 36)) - 2 * (who[:, None] == who)
    meta = {"sex": np.array(list("mf"))[who % 2], "quality": rng.random(36)}
    return be.Scores(
        values if kind == "distance" else 10 - values, who, who, kind=kind,
        probe_meta=meta, gallery_meta=meta,
    )  # fmt: skip


SCORES = {kind: scores_of(kind) for kind in KINDS}
FIXED = {"distance": 4.25, "similarity": 5.75}


class OneFold:
    """One fold, whose training part is the first 9 of 12 people."""

    def get_n_splits(self, X=None, y=None, groups=None):
        return 1

    def split(self, X, y=None, groups=None):
        first = np.arange(72) % 36 < 27  # probes, and then the gallery
        yield np.flatnonzero(first), np.flatnonzero(~first)


# Each function that takes a rule, and the threshold that it then uses.
FUNCTIONS = {
    "by_group": lambda s, t: be.by_group(s, "sex", threshold=t).threshold,
    "cross_evaluate": lambda s, t: be.cross_evaluate(s, OneFold(), threshold=t).threshold.item(),
    "error_discard": lambda s, t: be.error_discard(s, "quality", threshold=t).threshold,
    "explain": lambda s, t: be.explain(s, 0, threshold=t).threshold,
    "sample_size": lambda s, t: be.sample_size(s, far=0.05, threshold=t, n_templates=4).threshold,
    "step_by_step": lambda s, t: be.step_by_step(s, threshold=t).walks[0].threshold,
    "zoo": lambda s, t: be.zoo(s, threshold=t, permutations=9).threshold,
}

RULES = {
    "eer": ["eer", "EER"],
    "hter": ["hter", "cost=0.5,1,1"],
    "far": [
        "far=0.01",
        "FAR=0.01",
        "far=1%",
        "far = 1 %",
        "far=1/100",
    ],
    "frr": ["frr=0.125", "frr=1/8", "FRR = 12.5%"],
}


def attempts_of(kind: str, function: str) -> tuple[list[float], list[float], str]:
    """The attempts on which a function chooses: genuine and impostor scores, and their kind."""
    scores = SCORES[kind]
    mates = scores.probe_labels[:, None] == scores.gallery_labels
    part = slice(27 if function == "cross_evaluate" else None)
    values, mates = scores.values[part, part], mates[part, part]
    return values[mates].tolist(), values[~mates].tolist(), kind


@functools.cache  # the slow twin looks at every threshold
def expected(rule: str, kind: str, function: str, frr: float = 0.125) -> float:
    attempts = attempts_of(kind, function)
    if rule == "eer":
        return naive.eer(*attempts).threshold
    if rule == "hter":
        return naive.min_hter(*attempts)[1]
    if rule == "far":
        return naive.threshold_at_far(*attempts, 0.01)
    return naive.threshold_at_frr(*attempts, frr)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.cases(1)
def test_every_function_takes_every_rule(name, kind):
    use, scores = FUNCTIONS[name], SCORES[kind]
    part = name if name == "cross_evaluate" else "all"
    for rule, texts in RULES.items():
        for threshold in texts[-2:]:
            assert float(use(scores, threshold)) == expected(rule, kind, part), (rule, threshold)
    number = FIXED[kind]
    for threshold in (number, np.float64(number), str(number)):
        assert float(use(scores, threshold)) == number, threshold


@pytest.mark.parametrize("rule", RULES)
def test_ways_to_write_a_rule_are_equal(rule):
    assert len({Rule.parse(text) for text in RULES[rule]}) == 1


@pytest.mark.parametrize(
    ("text", "rate"),
    [("0.7%", 0.007), ("1/3", 1 / 3), ("1e-5", 1e-5), ("1e-3 %", 1e-5), ("100%", 1)],
)
def test_a_rate_is_read_to_the_last_bit(text, rate):
    assert Rule.parse(f"far={text}").values == (rate,)


@pytest.mark.parametrize("text", ["far=101%", "far=-1/10", "frr=1.5", "far=nan"])
def test_a_rate_is_from_0_to_1(text):
    with pytest.raises(be.DataError, match=r"expected a rate in \[0, 1\]"):
        Rule.parse(text)


@pytest.mark.parametrize("text", ["far=1/0", "far=1e999999999%", "far=%", "far=1/2/3", "1e400"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(be.DataError, match="expected a number, eer"):
        Rule.parse(text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["zoo", "by_group", "cross_evaluate"])
@pytest.mark.cases(1)
def test_any_frr_is_reached_by_the_strictest_threshold(name, kind):
    part = name if name == "cross_evaluate" else "all"
    for x in (0, 0.01, 1 / 81, 1 / 108, 0.5, 107 / 108, 1):
        assert FUNCTIONS[name](SCORES[kind], f"frr={x}") == expected("frr", kind, part, x)


def test_a_workload_is_at_a_point_of_its_result():
    ds = be.verification(SCORES["distance"], far_targets=[0.01])
    options = {"people_per_day": 100, "impostor_share": 0.1}
    at_far = be.workload(ds, threshold="far=0.01", **options)
    assert be.workload(ds, threshold="far=1%", **options).identical(at_far)
    at_eer = be.workload(ds, threshold=float(ds.eer_threshold), **options)
    assert be.workload(ds, threshold="EER", **options).identical(at_eer)
    with pytest.raises(
        be.DataError, match=r"frr=0\.1.` is not an operating point of these results"
    ):
        be.workload(ds, threshold="frr=10%", **options)


@pytest.mark.parametrize("rule", ["eer", "far=0.1"])
def test_curves_that_are_given_have_numbers_alone(rule):
    from bioeval.tasks.reid.gom import gom_from_curves

    with pytest.raises(be.DataError, match="expected an increasing array of numbers"):
        gom_from_curves(rule, mrep=[0, 1], mfr=[0, 1])
