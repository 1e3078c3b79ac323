"""One grammar of rules for every `threshold`: numbers, names, texts and tuples, and one message."""

import functools

import naive
import numpy as np
import pytest

import bioeval as be

KINDS = ("distance", "similarity")


def scores_of(kind: str) -> be.Scores:
    """Probes against a gallery."""
    rng = np.random.default_rng(4)
    subject = np.repeat(np.arange(12), 3)
    values = rng.normal(5, 1, (36, 36)) - 2 * (subject[:, None] == subject)
    meta = {"sex": np.array(list("mf"))[subject % 2]}
    return be.Scores(
        values if kind == "distance" else 10 - values, subject, subject, kind=kind,
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
    "explain": lambda s, t: be.explain(s, 0, threshold=t).threshold,
    "zoo": lambda s, t: be.zoo(s, threshold=t, permutations=9).threshold,
}

RULES = {
    "eer": ["eer", "EER"],
    "hter": ["hter", "cost=0.5,1,1"],
    "far=0.01": ["far=0.01", "FAR=0.01", "far=1%", "far = 1 %", "far=1/100"],
    "frr=0.125": ["frr=0.125", "frr=1/8", "FRR = 12.5%"],
}


def attempts_of(kind: str, function: str) -> tuple[list[float], list[float], str]:
    """The attempts on which a function chooses: genuine and impostor scores, and their kind."""
    scores = SCORES[kind]
    mates = scores.probe_labels[:, None] == scores.gallery_labels
    part = slice(27 if function == "cross_evaluate" else None)
    values, mates = scores.values[part, part], mates[part, part]
    return values[mates].tolist(), values[~mates].tolist(), kind


@functools.cache  # the naive implementation tries every threshold
def expected(rule: str, kind: str, function: str) -> float:
    return naive.threshold_of(rule, *attempts_of(kind, function))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_takes_every_rule(name, kind):
    use, scores = FUNCTIONS[name], SCORES[kind]
    part = name if name == "cross_evaluate" else "all"
    for rule, texts in RULES.items():
        for threshold in texts if name == "by_group" else texts[-1:]:
            assert float(use(scores, threshold)) == expected(rule, kind, part), (rule, threshold)
    number = FIXED[kind]
    for threshold in (number, np.float64(number), str(number)):
        assert float(use(scores, threshold)) == number, threshold
    for target in (1 / 81, 1 / 108, 0.5, 107 / 108, 0, 1):
        assert float(use(scores, f"frr={target}")) == expected(f"frr={target}", kind, part), target


@pytest.mark.parametrize(
    ("text", "accepted", "attempts"),
    [("0.7%", 7, 1000), ("1/3", 1, 3), ("1e-3", 1, 1000), ("1e-1 %", 1, 1000), ("100%", 3, 3)],
)
def test_a_rate_is_read_to_the_last_bit(text, accepted, attempts):
    """One unit in the last place less, and one attempt less would be accepted."""
    scores = be.Scores.from_pairs([0.0, *range(attempts)], [True, *[False] * attempts])
    ds = be.judge_threshold(scores, scores, f"far={text}", interval="wilson")
    assert (ds.fa == accepted).all()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *((x, r"expected a rate in \[0, 1\]") for x in ("far=101%", "far=-1/10", "far=nan")),
        *((x, "a number, eer") for x in ("far=1/0", "far=1e999999999%", "far=%", "far=1/2/3")),
        ("1e400", "a number, eer"),
        ("min-dcf", "prior"),
    ],
)
def test_what_is_no_rule_is_refused(text, says):
    with pytest.raises(be.DataError, match=says):
        be.zoo(SCORES["distance"], threshold=text)
