"""A printed threshold keeps what its row states: a bound of FAR or of FRR, or its own rates."""

import functools
import re

import naive
import numpy as np
import pytest
from report_text import rates
from result_text import as_text

import bioeval as be

text_of = functools.partial(as_text, verbose=True)
KINDS = ["distance", "similarity"]
TARGET = 0.02
NUMBER = r"(-?\d+\.?\d*(?:e-?\d+)?)"


def scores_of(kind: str, seed: int = 3) -> be.Scores:
    """Scores with all digits of float64, so that each threshold is rounded."""
    made = be.simulate(20, 4, random_state=seed)
    values = np.asarray(made.values)
    meta = {"sex": np.repeat(["f", "m"], 40), "quality": np.arange(80.0)}
    values = values if kind == "distance" else 10 - values
    return be.Scores(values, made.probe_labels, kind=kind, probe_meta=meta, name="one")


def rates_at(scores: be.Scores, threshold: float) -> dict[str, float]:
    """FAR and FRR at a threshold, by definition."""
    values, labels = scores.values.tolist(), scores.probe_labels.tolist()
    made = naive.attempts_single(values, labels, kind=scores.kind)
    _, (fr,), (fa,), _ = naive.verification_counts(*made, [threshold], scores.kind)
    return {"far": fa / len(made[1]), "frr": fr / len(made[0])}


def rows_in(text: str) -> dict[str, tuple[float, float]]:
    """The rate and the threshold of each row of verification that states a bound."""
    plain = text.replace("\\%", "%").replace("\\,", " ").replace("$\\leq$", "<=")
    plain = re.sub(r"[&|\\$]", " ", plain.replace("&lt;", "<"))
    found = {}
    for line in plain.splitlines():
        words = " ".join(line.split())
        row = re.match(rf"(F.R at F.R <?= ?\S+(?: %)?)(?: \(\w+\))? {NUMBER} % {NUMBER}$", words)
        if row:
            found[row[1]] = float(row[2]) / 100, float(row[3])
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["text", "latex", "markdown"])
def test_the_bound_of_each_row_holds_at_its_printed_threshold(kind, form):
    scores = scores_of(kind)
    ds = be.verification(scores, far_targets=[0.02, 0.1], frr_targets=[0.2, 0.3])
    shown = {"text": text_of, "latex": be.to_latex, "markdown": be.to_markdown}[form](ds)
    rows = rows_in(shown)
    assert len(rows) == 6
    for label, (value, threshold) in rows.items():
        free, bound, most = re.match(r"(F.R) at (F.R) <?= ?(\S+)", label).groups()
        rates = rates_at(scores, threshold)
        assert rates[bound.lower()] <= float(most) / 100, label
        # A pair of templates in both orders may be lost where the threshold is its score.
        assert rates[free.lower()] == pytest.approx(value, abs=2 / 240 + 5e-5), label


def in_a_line(text: str) -> str:
    return " ".join(text.split())


ROWS = {
    "zoo": lambda s, rule: be.zoo(s, threshold=rule, permutations=20),
    "by_group": lambda s, rule: be.by_group(s, "sex", threshold=rule),
    "error_discard": lambda s, rule: be.error_discard(s, "quality", threshold=rule),
    "explain": lambda s, rule: be.explain(s, 0, threshold=rule),
    "judge_threshold": lambda s, rule: be.judge_threshold(s, s, rule),
    "study_threshold": lambda s, rule: be.study_threshold(s, rule, folds=2, repeats=1),
    "check_data": lambda s, rule: be.check_data(s, threshold=rule),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", ["far", "frr"])
@pytest.mark.parametrize("call", ROWS)
@pytest.mark.cases()
def test_the_threshold_of_a_rule_keeps_its_rate(call, rate, kind):
    scores = scores_of(kind)
    text = in_a_line(text_of(ROWS[call](scores, f"{rate}={TARGET}")))
    numbers = re.findall(r"(?:[Tt]hreshold|accept where the \w+ [<>]=) (-?\d+\.\d+)", text)
    assert numbers
    for number in numbers:
        assert rates_at(scores, float(number))[rate] <= TARGET, number


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", ["far", "frr"])
def test_the_thresholds_of_folds_keep_the_rate_of_their_training_parts(rate, kind):
    scores = scores_of(kind)
    rows = np.arange(80)
    parts = [(rows[:40], rows[40:]), (rows[40:], rows[:40])]
    text = in_a_line(text_of(be.cross_evaluate(scores, parts, threshold=f"{rate}={TARGET}")))
    low, high = map(float, re.search(rf": {NUMBER} to {NUMBER} ", text).groups())
    exact = []
    for train, _ in parts:
        part = scores.select(train, train)
        chosen = be.verification(part, far_targets=[TARGET], frr_targets=[TARGET])
        exact.append((float(chosen[f"threshold_at_{rate}"][0]), part))
    for printed, (_, part) in zip((low, high), sorted(exact, key=lambda x: x[0]), strict=True):
        assert rates_at(part, printed)[rate] <= TARGET


@pytest.mark.parametrize("kind", KINDS)
def test_a_given_threshold_has_all_its_digits(kind, tmp_path, capsys):
    """Its rates are those of the number itself."""
    scores, given = scores_of(kind), 4.123456789
    for result in (
        be.verification(scores, thresholds=[given]),
        be.zoo(scores, threshold=given, permutations=20),
        be.by_group(scores, "sex", threshold=given),
        be.explain(scores, 0, threshold=given),
        be.check_promise(scores, given, "far=0.1"),
        be.study_threshold(scores, given, folds=2, repeats=1),
    ):
        assert "4.123456789" in text_of(result)


@pytest.mark.parametrize("kind", KINDS)
def test_detection_of_attacks(kind, tmp_path):
    """APCER is that of the printed threshold at most, or BPCER, whichever the rule bounds."""
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.normal(1, 1, 300), rng.normal(-1, 1, 300)])
    bona_fide = np.arange(600) < 300
    sign = 1 if kind == "similarity" else -1
    for rule, of, accepted in (("apcer=0.02", ~bona_fide, True), ("bpcer=0.02", bona_fide, False)):
        found = be.pad(sign * values, np.where(bona_fide, "", "mask"), kind=kind, threshold=rule)
        printed = float(re.search(rf"At the threshold {NUMBER}", text_of(found))[1])
        near = sign * (sign * values[of] - printed) >= 0
        assert np.mean(near == accepted) <= 0.02


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", ["far", "frr"])
@pytest.mark.cases(1)
def test_the_page_that_opens_at_a_study_keeps_what_the_study_states(bound, kind, tmp_path):
    scores = scores_of(kind)
    target = 0.05
    interval = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    study = be.study_threshold(scores, f"{bound}={target}", folds=3, repeats=1, interval=interval)
    results = be.evaluate(scores, extra_thresholds=[study["threshold"].item()])
    be.report([results, study], tmp_path / "page.html")
    of_matrix = rates((tmp_path / "page.html").read_text())[0]
    printed = float(of_matrix["threshold"])
    assert printed == pytest.approx(study["threshold"].item(), rel=1e-5)
    assert printed != study["threshold"].item()  # it is rounded
    assert rates_at(scores, printed)[bound] <= target
