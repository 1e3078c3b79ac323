"""Cards of the field: FVC, IJB-C, FRTE, VoxCeleb. They count what their sources count."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from result_text import as_text

import bioeval as be
from bioeval import protocol

RNG = np.random.default_rng(11)


def naive_pairs(labels, rule):
    """(probe, enrolled, genuine) of each attempt, from the definition."""
    first = {label: labels.index(label) for label in labels}
    for i, j in itertools.permutations(range(len(labels)), 2):
        same = labels[i] == labels[j]
        if rule == "ordered":
            yield i, j, same
        elif i > j:
            firsts = first[labels[i]] == i and first[labels[j]] == j
            if same or rule == "unordered" or firsts:
                yield i, j, same


def by_rule(scores, rule, thresholds=(0.5,)):
    """Verification of the pairs of a rule."""
    card = protocol.load("fvc2004")
    curve = replace(
        card.section("curve"), n_thresholds=None, thresholds=tuple(map(float, thresholds))
    )
    single = replace(card.section("verification"), pairs=rule)
    return be.evaluate(scores, replace(card, verification=single, curve=curve))[
        "verification/single"
    ]


@pytest.mark.parametrize("rule", ["ordered", "unordered", "first-impostors"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_the_pairs_of_a_rule(rule, dtype, kind):
    labels = ["b", "a", "b", "c", "a", "b", "d"]
    values = RNG.integers(0, 9, (7, 7)).astype(dtype)
    scores = be.Scores(values, labels, kind=kind)
    thresholds = np.arange(-1.0, 10.0)
    by_card = by_rule(scores, rule, thresholds)
    expected = list(naive_pairs(labels, rule))
    for name, is_genuine in (("genuine", True), ("impostor", False)):
        cells = [values[i, j] for i, j, same in expected if same == is_genuine]
        assert int(by_card[f"{name}_attempts"]) == len(cells)
        for threshold, count in zip(
            thresholds, by_card["ga" if is_genuine else "fa"].values, strict=True
        ):
            passed = [v >= threshold if kind == "similarity" else v <= threshold for v in cells]
            assert sum(passed) == count


def test_pairs_of_a_selection_in_another_order_and_with_a_mask():
    labels = ["b", "a", "b", "c", "a", "b", "d"]
    values = RNG.random((7, 7))
    mask = (np.array(labels)[:, None] == labels) + 1
    mask[5, 0] = mask[0, 5] = 0
    chosen = [5, 0, 4, 1, 6]
    part = be.Scores(values, labels, mask=mask).select(probes=chosen, gallery=chosen)
    by_card = by_rule(part, "unordered")
    cells = [(chosen[i], chosen[j]) for i in range(5) for j in range(i)]
    cells = [(i, j) for i, j in cells if {i, j} != {0, 5}]
    genuine = [values[i, j] for i, j in cells if labels[i] == labels[j]]
    assert int(by_card.genuine_attempts) == len(genuine) == 1
    assert int(by_card.impostor_attempts) == len(cells) - 1
    assert int(by_card.ga[0]) == sum(x <= 0.5 for x in genuine)
    plain = be.Scores(values, labels, mask=mask)
    assert int(be.verification(plain).genuine_attempts) == 6  # the scores given are as they were


def test_rules_that_do_not_go_with_the_rest(tmp_path):
    square = be.Scores(np.eye(4), [1, 1, 2, 2])
    rectangle = be.Scores(np.eye(4), [1, 1, 2, 2], [1, 1, 2, 2])
    with pytest.raises(be.ProtocolError, match="but these scores are probe-against-gallery"):
        by_rule(rectangle, "unordered")
    with pytest.raises(be.ProtocolError, match="probes from the gallery, 2 x 4"):
        by_rule(square.select(probes=[0, 3]), "unordered")
    with pytest.raises(be.ProtocolError, match="needs labels"):
        by_rule(be.Scores(np.eye(2), mask=[[0, 2], [2, 0]]), "unordered")
    text = protocol.load("fvc2004").to_toml()
    for old, new in (
        ('templates = ["single"]', 'templates = ["multi"]'),
        ("[curve]", "[closed_set]\n\n[curve]"),
    ):
        assert text.count(old) == 1
        with pytest.raises(be.CardError, match='pairs = "first-impostors".*no other task'):
            protocol.parse(text.replace(old, new))


def test_a_prior_is_a_share():
    """At 0 or 1 an error cannot happen, and the cost has no divisor."""
    text = protocol.load("voxceleb").to_toml()
    for prior in ("0.0", "1.0"):
        with pytest.raises(be.CardError, match=f"priors holds {prior}; .* > 0 and < 1"):
            protocol.parse(text.replace("priors = [0.01, ", f"priors = [{prior}, "))


def test_voxceleb_has_its_cost():
    """The least of p FRR + (1 - p) FAR over all thresholds, over min(p, 1 - p), in every place."""
    genuine = RNG.random(400) < 0.3
    values = RNG.normal(size=400) + 1.5 * genuine
    pairs = be.Scores.from_pairs(values, genuine, kind="similarity")
    tree = be.evaluate(pairs, "voxceleb")
    dataset = tree["verification/single"].to_dataset()
    assert dataset.cost_prior.values.tolist() == [0.01, 0.05]
    text, summary = as_text(tree, 100), be.summary(pairs, "voxceleb")
    for i, prior in enumerate((0.01, 0.05)):
        least = dataset.min_cost.values[i]
        costs = [
            prior * np.mean(values[genuine] < t) + (1 - prior) * np.mean(values[~genuine] >= t)
            for t in [*values, np.inf]
        ]
        np.testing.assert_allclose(least, min(costs), atol=1e-12)
        np.testing.assert_allclose(dataset.min_dcf.values[i], min(costs) / prior, rtol=1e-12)
        assert summary["verification/single"]["min_dcf"][prior] == dataset.min_dcf.values[i]
        (line,) = [row for row in text.splitlines() if f"minDCF at prior {prior:g}" in row]
        assert f"{min(costs) / prior:.4f}" in line
    assert "minDCF" not in as_text(be.evaluate(pairs), 100)


@pytest.mark.parametrize("name", ["ijbc-11", "frte-11"])
def test_cards_of_pairs(name):
    genuine = np.arange(3000) < 300
    pairs = be.Scores.from_pairs(RNG.random(3000) + genuine, genuine, kind="similarity")
    dataset = be.evaluate(pairs, name)["verification/single"].to_dataset()
    assert dataset.far_target.values.tolist() == list(protocol.load(name).report["far_targets"])
    assert 1e-6 in dataset.far_target.values


@pytest.mark.parametrize("name", ["ijbc-1n", "frte-1n"])
def test_cards_of_searches(name):
    """Mated and non-mated searches; a person counts once, whatever the number of templates."""
    gallery = np.repeat(np.arange(20), 2)
    probes = np.arange(40)  # 20 of them are enrolled
    distances = RNG.random((40, 40))
    tree = be.evaluate(be.Scores(distances, probes, gallery), name)
    open_set = tree["open_set"].to_dataset()
    assert int(open_set.genuine_attempts) == int(open_set.impostor_attempts) == 20
    assert int(tree["closed_set"].to_dataset().skipped) == 20
    fused = distances.reshape(40, 20, 2).min(axis=2)
    ranks = np.array([1 + np.sum(fused[i] < fused[i, i]) for i in range(20)])
    cms = tree["closed_set"].to_dataset().cms
    np.testing.assert_allclose(cms, [(ranks <= k).mean() for k in cms["rank"].values])
    nearest = np.sort(fused[20:].min(axis=1))
    target = float(protocol.load(name).report["far_targets"][0])
    allowed = int(np.floor(target * 20))
    limit = nearest[allowed]  # thresholds below it accept no more than are allowed
    mates = fused[np.arange(20), np.arange(20)]
    for k in (1, 10):
        expected = np.mean((mates < limit) & (ranks <= k))
        dir_value = open_set.dir_at_far.sel(far_target=target, rank=k)
        np.testing.assert_allclose(dir_value, expected)
