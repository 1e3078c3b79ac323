"""Attacks in folds: each goes with its target, at a threshold of bona fide presentations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from twins import crossed

import bioeval as be
from bioeval.base.errors import CardError, DataError, ProtocolError
from bioeval.protocol import load
from bioeval.results import expanded

SPLITTER = be.partition.SubjectKFold(3, shuffle=True, random_state=0)
CARDS = Path(be.__file__).parent / "protocol" / "cards"


def scores_of(layout):
    return be.simulate(
        12, 3, layout=layout, attacks="print=0.6,mask=0.9", presentations=2, random_state=1
    )


def bona_fide(scores):
    rows = np.flatnonzero(scores.probe_meta["attack"] == "")
    square = scores.layout == "all-against-all"
    return scores.select(probes=rows, gallery=rows if square else None)


@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize("layout", ["all-against-all", "probe-against-gallery"])
@pytest.mark.cases(1)
def test_rates_are_those_of_the_tested_targets(layout, templates):
    scores = scores_of(layout)
    options = {"templates": templates, "threshold": ("far", 0.05)}
    ds = crossed(scores, SPLITTER, attack="attack", **options)
    alone = bona_fide(scores)
    plain = crossed(alone, SPLITTER, **options)
    for name in ("threshold", "far", "frr", "train_far", "genuine_attempts"):
        np.testing.assert_array_equal(ds[name], plain[name])
    assert ds.species.values.tolist() == ["mask", "print"]
    square = layout == "all-against-all"
    who = np.asarray(alone.probe_labels)
    if not square:
        who = np.concatenate([who, np.asarray(alone.gallery_labels)])
    gallery = scores.gallery_labels.tolist()
    species = scores.probe_meta["attack"].tolist()
    columns = [j for j in range(len(gallery)) if not (square and species[j])]
    total = {"print": [0, 0], "mask": [0, 0]}
    for k, (_, test) in enumerate(SPLITTER.split(np.zeros(len(who)), who)):
        tested, t = set(who[test].tolist()), ds.threshold[0, k].item()
        of = {"print": [0, 0], "mask": [0, 0]}
        for i, name in enumerate(species):
            target = scores.probe_labels[i].item()
            if name and target in tested:
                own = [scores.values[i, j] for j in columns if gallery[j] == target]
                for d in [min(own)] if templates == "multi" else own:
                    of[name][0] += d <= t
                    of[name][1] += 1
        rates = {name: a / n for name, (a, n) in of.items()}
        for name, (a, n) in of.items():
            total[name][0] += a
            total[name][1] += n
            assert ds.iapar_of_species.sel(species=name)[0, k] == rates[name]
        assert ds.iapar_max[0, k] == max(rates.values())
        assert ds.riapar[0, k] == max(rates.values()) + ds.frr[0, k]
        assert ds.ia[0, k] == sum(a for a, _ in of.values())
        assert ds.attack_attempts[0, k] == sum(n for _, n in of.values())
    both = np.sum(list(total.values()), axis=0)
    assert ds.iapar_pooled_pooled == both[0] / both[1]
    np.testing.assert_allclose(ds.iapar_max_mean, ds.iapar_max.mean(), rtol=1e-15)
    assert both[1] == (48 if templates == "multi" else 48 * 3)


def test_a_card_with_attacks(tmp_path):
    scores = scores_of("all-against-all")
    text = (CARDS / "course-kfold.toml").read_text()
    text = text.replace('name = "course-kfold"', 'name = "attacked"').replace("= 10", "= 3")
    (tmp_path / "attacked.toml").write_text(f'{text}\n[attacks]\nspecies = "attack"\n')
    card = load(tmp_path / "attacked.toml")
    tree = expanded(be.evaluate(scores, card))
    splitter = be.partition.RepeatedSubjectKFold(n_splits=3, n_repeats=1, random_state=0)
    ds = crossed(scores, splitter, attack="attack", templates="multi")
    result = tree["folds/verification/multi"].to_dataset()
    for name in ("threshold", "iapar_max", "iapar_pooled", "riapar", "iapar_max_mean"):
        np.testing.assert_array_equal(result[name], ds[name])
    left = be.evaluate(scores, "course-kfold")["folds/verification/multi"].to_dataset()
    assert "iapar_max" not in left and left.attrs["attacks_left_out"] == 48
    (tmp_path / "no.toml").write_text(
        text.partition("[partition]")[0] + "[attacks]\nspecies = 'a'\n"
    )
    with pytest.raises(CardError, match=r"\[attacks\] needs \[partition\]"):
        load(tmp_path / "no.toml")


def test_what_attacks_in_folds_need():
    scores = scores_of("all-against-all")
    with pytest.raises(DataError, match="'kind', but the probe metadata"):
        crossed(scores, SPLITTER, attack="kind")
    with pytest.raises(ProtocolError, match="attack is for verification; the task is open-set"):
        crossed(scores, SPLITTER, attack="attack", task="open_set")
    with pytest.raises(ProtocolError, match="no limits of attack rates in folds"):
        crossed(scores, SPLITTER, attack="attack", interval="subject-bootstrap")
    pairs = be.Scores.from_pairs([1.0, 2.0], [True, False])
    with pytest.raises(DataError, match="'attack', but the probe metadata"):
        crossed(pairs, SPLITTER, attack="attack")


def listed_attacks(folds=None):
    """Twenty pairs of each of three folds: genuine, impostors, and attacks of two species."""
    rng = np.random.default_rng(2)
    fold, kind = np.repeat(["x", "y", "z"], 20), np.tile(np.arange(20), 3)
    attack = np.where(kind < 12, "", np.where(kind < 16, "print", "mask"))
    values = rng.normal(size=60) + np.where(kind < 6, 0, np.where(kind < 12, 3, 1.5))
    scores = be.Scores.from_pairs(values, kind < 6, folds=folds)
    return scores._with(attack=attack), fold, attack


def assert_attacks_of_folds(ds, scores, fold, attack):
    """Each attack is judged at the threshold of the fold that it is listed in."""
    for k, name in enumerate("xyz"):
        here, t = fold == name, float(ds.threshold[0, k])
        rates = {}
        for species in ("print", "mask"):
            own = here & (attack == species)
            rates[species] = (np.asarray(scores.values)[own] <= t).sum() / own.sum()
            assert ds.iapar_of_species.sel(species=species)[0, k] == rates[species]
        assert ds.iapar_max[0, k] == max(rates.values())
        assert ds.attack_attempts[0, k] == 8
        bona = (fold != name) & (attack == "")
        alone = be.Scores.from_pairs(np.asarray(scores.values)[bona], scores.genuine[bona])
        assert t == float(be.verification(alone).eer_threshold)


def test_attacks_in_the_given_folds_of_a_list_of_pairs(tmp_path):
    scores, fold, attack = listed_attacks()
    splitter = be.partition.PredefinedPairFolds(fold)
    ds = crossed(scores, splitter, threshold="eer", attack="attack")
    assert_attacks_of_folds(ds, scores, fold, attack)
    scores, *_ = listed_attacks(fold)  # folds in the list, those of bona fide pairs to the splitter
    bona = be.partition.PredefinedPairFolds(fold[attack == ""])
    again = crossed(scores, bona, threshold="eer", attack="attack")
    assert again.iapar_max.equals(ds.iapar_max)
    text = (CARDS / "lfw-view2.toml").read_text().replace('name = "lfw-view2"', 'name = "a"')
    (tmp_path / "a.toml").write_text(f'{text}\n[attacks]\nspecies = "attack"\n')
    result = be.evaluate(scores, load(tmp_path / "a.toml"))["folds/verification/single"]
    assert result.attack_attempts.values.tolist() == [[8, 8, 8]]


def test_a_card_of_pairs_with_attacks_takes_given_folds(tmp_path):
    text = (CARDS / "course-kfold-pairs.toml").read_text().replace("course-kfold-pairs", "b")
    (tmp_path / "b.toml").write_text(f'{text}\n[attacks]\nspecies = "attack"\n')
    with pytest.raises(CardError, match=r'needs \[partition\] by = "given-folds"'):
        load(tmp_path / "b.toml")


def test_attacks_of_a_list_without_their_folds():
    scores, fold, attack = listed_attacks()
    bona = be.partition.PredefinedPairFolds(fold[attack == ""])
    with pytest.raises(DataError, match="for 36 bona fide pairs alone, without the 24 attacks"):
        crossed(scores, bona, attack="attack")
    with pytest.raises(ProtocolError, match="needs the fold of each attack"):
        crossed(scores, be.partition.SampleKFold(3), attack="attack")
    other = np.where(attack == "mask", "w", fold)
    with pytest.raises(DataError, match="in the fold 'w', but no bona fide pair is"):
        crossed(scores, be.partition.PredefinedPairFolds(other), attack="attack")


def test_an_instrument_is_not_compared_with_its_source_in_any_fold():
    """Two attacks on people with three templates each, one of which is the source."""
    who = np.repeat(np.arange(6), 3)
    meta = {
        "attack": np.array([""] * 18 + ["print"] * 2, dtype=object),
        "source": np.array([None] * 18 + [4, 14], dtype=object),
    }
    values = np.random.default_rng(0).random((20, 18))
    scores = be.Scores(values, [*who, 1, 4], who, probe_meta=meta)
    ds = crossed(scores, SPLITTER, attack="attack", templates="single")
    assert ds.attack_attempts.sum() == 4
    t = {person: ds.threshold.values[0, k] for k, (_, test) in
         enumerate(SPLITTER.split(np.zeros(len(who)), who)) for person in who[test]}  # fmt: skip
    others = {18: (1, (3, 5)), 19: (4, (12, 13))}
    accepted = [values[i, j] <= t[person] for i, (person, rest) in others.items() for j in rest]
    assert ds.ia.sum() == sum(accepted)
