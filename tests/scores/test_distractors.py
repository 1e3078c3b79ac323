"""Distractors and junk are wrong entries for every probe, and no two of them one person."""

import numpy as np
import pytest

import bioeval as be

D = np.array([[0, 0.9, 0.5, 0.6], [0.9, 0, 0.7, 0.8], [0.5, 0.7, 0, 0.1], [0.6, 0.8, 0.1, 0]])
WHO = [1, 1, 0, 0]


def drawn(square: bool, as_text: bool) -> tuple[np.ndarray, list, list | None]:
    rng = np.random.default_rng(7)
    who, searched = rng.integers(0, 6, 30), rng.integers(0, 6, 30)
    values = rng.integers(1, 40, (30, 30)) / 8
    labels = [x.astype(str).tolist() if as_text else x.tolist() for x in (who, searched)]
    return values, labels[0], None if square else labels[1]


def of_one_person(a, b) -> bool:
    return a == b and str(a) != "0"


def counts(values, probes, gallery, threshold: float) -> dict[str, int]:
    """Genuine attempts and false rejects, by a loop over all cells."""
    square = gallery is None
    gallery = probes if square else gallery
    made = {"genuine_attempts": 0, "false_rejects": 0}
    for i, a in enumerate(probes):
        for j, b in enumerate(gallery):
            if of_one_person(a, b) and not (square and i == j):
                made["genuine_attempts"] += 1
                made["false_rejects"] += values[i, j] > threshold
    return made


def first_ranks(values, probes, gallery, unit: str) -> list[int]:
    """1 + others that are closer than or as close as the best mate, by a loop."""
    square = gallery is None
    gallery = probes if square else gallery
    ranks = []
    for i, a in enumerate(probes):
        others = [j for j in range(len(gallery)) if not (square and i == j)]
        mates = [values[i, j] for j in others if of_one_person(a, gallery[j])]
        if mates:
            nearest = {}
            for j in others:
                if not of_one_person(a, gallery[j]):
                    key = (j,) if unit == "template" or str(gallery[j]) == "0" else gallery[j]
                    nearest[key] = min(nearest.get(key, np.inf), values[i, j])
            ranks.append(1 + sum(x <= min(mates) for x in nearest.values()))
    return ranks


def test_two_distractors_are_no_genuine_attempt_and_no_hit():
    scores = be.Scores(D, WHO, distractor_ids=(0,))
    assert int(be.verification(scores).genuine_attempts) == 2
    assert float(be.closed_set(scores).cms[0]) == 0
    assert scores.subjects.tolist() == [1]
    evaluated = be.evaluate(scores)
    assert float(evaluated["closed_set"].cms[0]) == 0


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("square", [True, False])
def test_rates_are_those_of_a_loop(square, as_text, listed, tmp_path, monkeypatch):
    values, probes, gallery = drawn(square, as_text)
    if not listed:
        monkeypatch.setattr("bioeval.scores.blocks.LISTED", 0)
    in_memory = be.Scores(values, probes, gallery, distractor_ids=(0,))
    be.save(in_memory, tmp_path / "x.npz")
    for scores in (in_memory, be.load(tmp_path / "x.npz")):
        result = be.verification(scores, thresholds=[2.0])
        made = counts(values, probes, gallery, 2.0)
        assert int(result.genuine_attempts) == made["genuine_attempts"]
        frr = float(result.sel(threshold=2.0).frr)
        assert frr == made["false_rejects"] / made["genuine_attempts"]
        for unit in ("template", "subject"):
            ranks = np.array(first_ranks(values, probes, gallery, unit))
            cms = be.closed_set(scores, rank_unit=unit, unmated="skip").cms.values
            np.testing.assert_allclose(cms[:5], [(ranks <= k).mean() for k in range(1, 6)])
