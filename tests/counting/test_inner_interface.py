"""The study of CONTRIBUTING.md, "The inner interface", beside plain loops."""

import re
from typing import Any

import naive
import numpy as np
import pytest
from pages import ROOT
from small_worlds import THREADS, WAYS, World, sent, world

import bioeval as be

SEEDS = range(12)


@pytest.fixture(scope="module")
def study() -> Any:
    """The call of the page's study."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## The inner interface\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"^```python\n((?!>>>).*?)^```$", section, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(compile(code, "CONTRIBUTING.md", "exec"), names)
    return names["accepted_by_probe"]


def by_loops(some: World, threshold: float) -> dict[int, tuple[int, int]]:
    """Accepted and all impostor attempts of each probe, by its row."""
    sign = -1 if some.kind == "similarity" else 1
    found = {probe: (0, 0) for probe in range(len(some.probes))}
    for x in some.attempts():
        if not x.genuine:
            accepted, made = found[x.probe]
            accepts = x.distance is not naive.FAILED and x.distance <= sign * threshold
            found[x.probe] = accepted + accepts, made + 1
    return found


def counted(result: Any) -> dict[int, tuple[int, int]]:
    """The same of a result."""
    columns = result.probe, result.fa, result.impostor_attempts
    rows = zip(*(x.values.tolist() for x in columns), strict=True)
    return {probe: (accepted, made) for probe, accepted, made in rows}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.cases(8)
def test_the_study_counts_what_loops_count(study, seed, way):
    some, rng = world(seed, way), np.random.default_rng(seed)
    rows, columns = (rng.permutation(len(x)) for x in (some.probes, some.gallery))
    threshold = 3.0 if some.kind == "distance" else -3.0
    expected = by_loops(some, threshold)
    for threads in THREADS:
        with sent(way, threads):
            result = study(some.scores(), threshold)
            turned = counted(study(some.turned(rows, columns).scores(), threshold))
        assert counted(result) == expected
        assert {int(rows[probe]): numbers for probe, numbers in turned.items()} == expected
        far = [fa / of if of else np.nan for fa, of in counted(result).values()]
        np.testing.assert_array_equal(result.far, far)
        np.testing.assert_array_equal(np.sort(-result.far), -result.far)  # NaN is last


def test_the_study_takes_claim_scores_and_refuses_what_has_no_such_rate(study):
    scores = world(0, "listed").scores()
    of_claims = study(be.claim_scores(scores, templates="multi"), 3.0)
    whole = be.verification(scores, templates="multi")
    assert of_claims.impostor_attempts.sum() == whole.impostor_attempts > 0
    with pytest.raises(be.ProtocolError, match="FAR by probe needs a matrix"):
        study(be.Scores.from_pairs([1.0, 2.0], [True, False]), 1.0)
    with pytest.raises(be.ProtocolError, match="FAR by probe compares scores of different rows"):
        study(be.Scores([[1, 2], [2, 1]], [0, 1], [0, 1], kind="order"), 1.0)
    with pytest.raises(be.DataError, match="`threshold` is inf; expected a finite number"):
        study(scores, np.inf)
