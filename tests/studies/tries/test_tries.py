"""FAR and FRR of several tries beside the enumeration of all choices of tries."""

import itertools
import json
from collections import defaultdict

import numpy as np
import pytest
from json_rows import rows, value
from result_messages import codes

import bioeval as be
from bioeval.cli import main


def naive_rates(rows, threshold, k):
    """Return FAR and FRR of k tries, claims that count, and pairs left out, of lines of a log.

    A line is a try: the person, the visit, the claimed person, and the score of each template, None
    where the comparison failed.
    """
    tries, claims = defaultdict(list), defaultdict(set)
    for person, visit, claimed, distances in rows:
        known_distances = [x for x in distances if x is not None]
        tries[person, claimed].append(bool(known_distances) and min(known_distances) <= threshold)
        claims[person, claimed].add(visit)
    total, accepted, left_out = np.zeros((3, 2))
    for pair, decisions in tries.items():
        genuine = int(pair[0] == pair[1])
        choices = list(itertools.combinations(decisions, k))
        if not choices:
            left_out[genuine] += 1
            continue
        share = sum(map(any, choices)) / len(choices)
        total[genuine] += len(claims[pair])
        accepted[genuine] += len(claims[pair]) * share
    far, gar = accepted / np.where(total, total, np.nan)
    return far, 1 - gar, total, left_out


def log_of(seed, *, failures=False):
    """Return lines of a log of genuine tries and impostor tries, and its scores."""
    rng = np.random.default_rng(seed)
    people, rows, visit = "abcdef", [], 0
    for person in people:
        for claimed in people:
            for _ in range(rng.integers(0, 4)):
                visit += 1
                for _ in range(rng.integers(1, 4)):
                    scores = rng.integers(0, 9, 2).astype(float).tolist()
                    if failures and rng.random() < 0.2:
                        scores[rng.integers(2)] = None
                    rows.append((person, f"v{visit}", claimed, scores))
    return rows


def scores_of(rows):
    """Return the matrix of all tries against two templates of each person, NaN where not compared.

    A failure is NaN, too, but no mask leaves it out.
    """
    names = sorted({x for row in rows for x in (row[0], row[2])})
    gallery = np.repeat(names, 2)
    values = np.full((len(rows), len(gallery)), np.nan)
    mask = np.full(values.shape, -1)
    for i, (person, _, claimed, distances) in enumerate(rows):
        columns = np.flatnonzero(gallery == claimed)
        values[i, columns] = [np.nan if x is None else x for x in distances]
        mask[i, columns] = int(person == claimed)
    return values, [row[0] for row in rows], gallery, [row[1] for row in rows], mask


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("seed", range(3))
def test_they_are_those_of_all_choices(seed, kind):
    rows = log_of(seed)
    values, person, gallery, visit, _ = scores_of(rows)
    sign = 1 if kind == "distance" else -1
    scores = be.Scores(
        sign * values, person, gallery, kind=kind, nan="exclude", probe_meta={"visit": visit}
    )
    claims = be.claim_scores(scores, attempts="visit")
    for threshold in (0.0, 2.0, 5.0):
        ds = be.tries(claims, sign * threshold, range(1, 5))
        for i, k in enumerate(ds.tries.values.tolist()):
            far, frr, total, left_out = naive_rates(rows, threshold, k)
            np.testing.assert_allclose([ds.far[i], ds.frr[i]], [far, frr], rtol=1e-12)
            assert [ds.impostor_attempts[i], ds.genuine_attempts[i]] == total.tolist()
            left_out_pairs = [ds.impostor_pairs_left_out[i], ds.genuine_pairs_left_out[i]]
            assert left_out_pairs == left_out.tolist()


def test_rates_are_compared_only_where_both_are_defined():
    rows = [x for x in log_of(0) if x[0] == x[2]]  # nobody claims to be another person
    values, person, gallery, visit, _ = scores_of(rows)
    scores = be.Scores(values, person, gallery, nan="exclude", probe_meta={"visit": visit})
    ds = be.tries(be.claim_scores(scores, attempts="visit"), 5.0, [1, 2])
    assert np.isnan(ds.far).all() and not np.isnan(ds.frr).any()
    assert "rates-of-tries" not in codes(ds)


def test_a_failed_comparison_is_no_accepted_try():
    """All tries are compared with all people, and some comparisons fail."""
    rng = np.random.default_rng(5)
    person = np.repeat(list("abcd"), 6)
    visit = np.tile([1, 1, 2, 2, 2, 3], 4)
    gallery = np.repeat(list("abcd"), 2)
    values = rng.integers(0, 9, (24, 8)).astype(float)
    values[rng.random(values.shape) < 0.3] = np.nan
    scores = be.Scores(values, person, gallery, nan="reject", probe_meta={"visit": visit})
    ds = be.tries(be.claim_scores(scores, attempts="visit"), 2.0, [1, 2, 3])
    rows = []
    for i, row in enumerate(values):
        for claimed in "abcd":
            of_claim = row[gallery == claimed]
            rows.append(
                (person[i], visit[i], claimed, [None if np.isnan(x) else x for x in of_claim])
            )
    for i, k in enumerate((1, 2, 3)):
        far, frr, total, _ = naive_rates(rows, 2.0, k)
        np.testing.assert_allclose([ds.far[i], ds.frr[i]], [far, frr], rtol=1e-12)
        assert [ds.impostor_attempts[i], ds.genuine_attempts[i]] == total.tolist()


def door(people=40):
    return be.simulate(
        people, 3, layout="probe-against-gallery", probes=6, sessions=3, random_state=3
    )


def test_one_try_of_complete_visits_has_the_rates_of_single_tries():
    scores = door()
    ds = be.tries(be.claim_scores(scores, attempts="session"), 3.3, 1)
    of_single_tries = be.verification(be.claim_scores(scores), thresholds=[3.3])
    np.testing.assert_allclose(
        [ds.far[0], ds.frr[0]], [of_single_tries.far[0], of_single_tries.frr[0]], rtol=1e-12
    )
    assert be.tries(scores, 3.3, 6).far_high > 0
    with pytest.warns(be.BioevalWarning, match="no genuine pair .* has 7 tries"):
        assert np.isnan(be.tries(scores, 3.3, 7).frr)


def test_limits_are_of_people_and_of_one_rule():
    claims = be.claim_scores(door(), attempts="session")
    ds = be.tries(claims, 3.3, [2], confidence=0.9)
    promise = be.check_promise(claims, 3.3, ["far=2%", "frr=50%"], tries=2)
    for name in ("far", "frr"):
        assert promise[name] == ds[name][0]
        assert promise[f"{name}_low"] == ds[f"{name}_low"][0]
        assert promise[f"{name}_high"] == ds[f"{name}_high"][0]
    assert promise.verdict.values.tolist()[1] == "shown"
    assert "FRR of 2 tries at 3.3" in be.to_markdown(promise)


def ending(scores, threshold):
    """Return the tries of visits that end with an accepted try."""
    own = np.where(scores.probe_labels[:, None] == scores.gallery_labels, scores.values, np.inf)
    accepted, kept_rows = set(), []
    for i, visit in enumerate(zip(scores.probe_labels, scores.probe_meta["session"], strict=True)):
        if visit not in accepted:
            kept_rows.append(i)
        if own[i].min() <= threshold:
            accepted.add(visit)
    return scores.select(probes=kept_rows)


def test_limits_of_people_who_are_never_claimed_are_for_this_gallery():
    values = np.random.default_rng(0).random((40, 30))
    scores = be.Scores(values, np.repeat(range(20), 2), np.repeat(range(100, 115), 2))
    promise = be.check_promise(be.claim_scores(scores), 0.1, "far=0.5", tries=1)
    assert promise.interval_for.values.tolist() == ["this gallery"]


def test_the_heading_says_that_visits_end_when_accepted():
    all_claims = be.claim_scores(door(), attempts="session")
    ended = be.claim_scores(ending(door(), 3.0), attempts="session")
    for claims, said in ((all_claims, False), (ended, True)):
        text = " ".join(be.to_markdown(be.verification(claims)).split())
        assert ("visits seem to end at the first accepted try" in text) == said
        assert "Verification, visits, best of their tries; all templates" in text
    rows = [*log_of(0)]
    rows += [(p, f"{v}x", c, d) for p, v, c, d in rows if p != c for v in (v, v)]
    values, person, gallery, visit, _ = scores_of(rows)
    scores = be.Scores(values, person, gallery, nan="exclude", probe_meta={"visit": visit})
    text = be.claim_scores(scores, attempts="visit").claims
    assert "tries on average, impostor attempts" in text


def test_failures_of_visits_are_those_of_visits_and_of_comparisons():
    values = np.array([[np.nan, 5.0], [np.nan, 6.0], [4.0, np.nan], [5.0, 1.0]])
    scores = be.Scores(
        values, list("aabb"), list("ab"), nan="reject", probe_meta={"visit": [1, 1, 1, 1]}
    )
    result = be.verification(be.claim_scores(scores, attempts="visit"))
    (stated,) = [x.arguments for x in be.messages(result) if x.code == "failures-of-visits"]
    assert (stated["genuine"], stated["impostor"]) == (1, 0)
    assert (stated["tries_genuine"], stated["tries_impostor"]) == (3, 0)


@pytest.mark.parametrize("tries", [0, [], "3", [1, 0], 1.5, 10**30])
def test_what_is_no_number_of_tries_is_refused(tries):
    with pytest.raises(be.DataError, match="`tries`"):
        be.tries(door(4), 3.0, tries)


def test_more_tries_than_any_pair_has_leave_all_pairs_out():
    claims = door(4)
    ds = be.tries(claims, 3.0, [1, 10**12])
    assert np.isnan(ds.far[1]) and np.isnan(ds.frr[1])
    assert ds.genuine_pairs_left_out[1] > ds.genuine_pairs_left_out[0] == 0


def test_commands_show_several_tries(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    be.save(door(), "door.npz")
    use = ["door.npz", "--attempts", "session", "--templates", "multi", "--json"]
    ds = be.tries(be.claim_scores(door(), attempts="session"), 3.3, [1, 2])
    for words in (["threshold", *use, "--threshold", "3.3"], ["run", *use, "--thresholds", "3.3"]):
        assert main([*words, "--tries", "2"]) == 0
        document = json.loads(capsys.readouterr().out)
        for tries in (1, 2):
            of_tries = ds.sel(tries=tries)
            (frr,) = rows(document, "frr", tries=tries)
            assert value(document, "far", tries=tries) == of_tries.far
            assert frr["high"] == of_tries.frr_high
    assert main(["run", "door.npz", "--tries", "2"]) == 2
    assert main(["threshold", "door.npz", "--tries", "2"]) == 2
    promise = ["threshold", *use, "--threshold", "3.3", "--promise", "frr=1%", "--tries", "1"]
    assert main(promise) == 1
