"""The lecture's whole experiment, each part against naive.py."""

import naive
import numpy as np
import pytest
from result_messages import arguments

import bioeval as be
from bioeval.partition import ClaimSampler, EnrolledSplit, Experiment, ProbeGallerySplit


def drawn(seed):
    """Scores with ties, unequal subjects, a kind, and an experiment to divide them."""
    rng = np.random.default_rng(seed)
    subjects = int(rng.integers(10, 14))
    label = np.repeat([f"s{k}" for k in range(subjects)], rng.integers(2, 5, subjects))
    label = label[rng.permutation(len(label))]
    distances = rng.integers(0, 30, (len(label), len(label))) - 8 * (label[:, None] == label)
    kind = ("distance", "similarity")[seed % 2]
    dtype = (np.float32, np.float64, np.int16)[seed % 3]
    values = (distances if kind == "distance" else -distances).astype(dtype)
    galleries = (None, 1, 0.5)[seed % 3]
    experiment = Experiment(
        (0.4, 3)[seed % 2],
        (None, 0.3)[seed // 2 % 2],
        galleries,
        None if galleries is None else (None, 1, 0.34)[seed // 3 % 3],
        random_state=seed,
    )
    return be.Scores(values, label, kind=kind), experiment


def same(result, expected):
    return float(result) == pytest.approx(float(expected), nan_ok=True)


def comparisons_of(scores, probes, gallery):
    """The comparisons of a part, as naive.py takes them."""
    labels = scores.probe_labels
    return {
        "values": scores.values[np.ix_(probes, gallery)].tolist(), "kind": scores.kind,
        "probe_labels": labels[probes].tolist(), "gallery_labels": labels[gallery].tolist(),
        "probe_ids": probes.tolist(), "gallery_ids": gallery.tolist(),
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(50))
def test_every_count_is_that_of_the_definition(seed):
    scores, experiment = drawn(seed)
    ranks = [1, 2, 4]
    options = {"far_targets": (0.2, 0.01)}
    rule = ("eer", "far=0.1")[seed % 2]
    attempts_of = {"single": naive.attempts_single, "multi": naive.attempts_multi}
    results = {
        ("verification", x): be.cross_evaluate(
            scores, experiment, templates=x, threshold=rule, **options
        )
        for x in attempts_of
    }
    for task in ("open_set", "closed_set"):
        of_rule = {"threshold": rule} if task == "open_set" else {}
        results[task, ""] = be.cross_evaluate(
            scores, experiment, task=task, ranks=ranks, **of_rule, **options
        )
    for repeat, parts in enumerate(experiment.split(scores)):
        test = comparisons_of(scores, parts.probes, parts.gallery)
        train = comparisons_of(scores, parts.threshold_probes, parts.threshold_gallery)
        for (task, templates), ds in results.items():
            fold = ds.isel(repeat=repeat, fold=0)
            for name, part in (("test", test), ("train", train)):
                part_result = fold.sel(part=name)
                if task == "closed_set":
                    closed_set = naive.closed_set(**part, unmated="skip", max_rank=4)
                    assert int(part_result.attempts) == closed_set.attempts
                    assert part_result.cms_count.values.tolist() == [
                        closed_set.cms_count[k - 1] for k in ranks
                    ]
                    continue
                tg, ti = int(part_result.genuine_attempts), int(part_result.impostor_attempts)
                threshold = float(part_result.threshold)
                if task == "verification":
                    attempts = attempts_of[templates](**part)
                    counts = naive.verification_counts(*attempts, [threshold], scores.kind)
                    names = ("ga", "fr", "fa", "gr")
                    assert [[int(part_result[name])] for name in names] == list(counts)
                    assert (tg, ti) == tuple(map(len, attempts))
                else:
                    open_set = naive.open_set(**part, thresholds=[threshold], max_rank=4)
                    expected_counts = (
                        open_set.genuine_attempts,
                        open_set.impostor_attempts,
                        *open_set.fa,
                    )
                    assert (tg, ti, int(part_result.fa)) == expected_counts
                    assert part_result.di.values.tolist() == [open_set.di[0][k - 1] for k in ranks]
                    detected = np.rint(part_result.dir.values * tg)
                    assert detected.tolist() == [sum(open_set.di[0][:k]) for k in ranks]
                    assert int(part_result.fr) == tg - detected[0]
            if task == "verification":  # the threshold, and the points of the test part
                attempts = (*attempts_of[templates](**train), scores.kind)
                expected_threshold = naive.eer(*attempts).threshold
                if rule != "eer":
                    expected_threshold = naive.threshold_at_far(*attempts, 0.1)
                assert float(fold.threshold) == expected_threshold
                attempts = (*attempts_of[templates](**test), scores.kind)
                assert same(fold.eer, naive.eer(*attempts).value)
                assert same(fold.auc, naive.auc(*attempts))
                for k, x in enumerate((0.2, 0.01)):
                    assert same(fold.frr_at_far[k], naive.frr_at_far(*attempts, x)[0])


def test_repeat_of_a_gallery_alone_is_that_of_its_splitter():
    scores = be.simulate(20, 4, random_state=2)
    experiment = Experiment(gallery_templates=1, unenrolled=0.3, repeats=4, random_state=6)
    splitter = EnrolledSplit(
        ProbeGallerySplit(1), unenrolled=0.3, n_repeats=4, random_state=6
    )  # fmt: skip
    by_experiment, by_splitter = (be.repeat(scores, s) for s in (experiment, splitter))
    assert by_experiment.equals(by_splitter)  # what was drawn is recorded otherwise


@pytest.mark.parametrize("unenrolled", [6, None])
@pytest.mark.parametrize(
    "repeats", [2, pytest.param(300, marks=pytest.mark.slow)]
)  # parts that are selected, and parts that are masks
def test_people_who_search_without_a_mate_support_a_dir(unenrolled, repeats):
    """The rule of 3: FAR targets of at least 3 / people, however many templates they have."""
    scores = be.simulate(60, 4, random_state=1)
    experiment = Experiment(0.5, None, 1, unenrolled, repeats=repeats, random_state=2)
    people = unenrolled or 30  # all of the 30 test subjects are left out in turn if all enrolled
    targets = [3 / (people + 1), 3 / people]
    ds = be.cross_evaluate(scores, experiment, task="open_set", far_targets=targets)
    assert (ds.dir_at_far_supported.values == [0, 1]).all()
    message = arguments(ds, "target-not-supported")
    assert (message["targets"], message["have"]) == (targets[:1], {"people": people})
    of_parts = be.repeat(scores, experiment, far_targets=targets)["open_set"].to_dataset()
    np.testing.assert_array_equal(of_parts.dir_at_far_supported.values, [[0, 1]] * repeats)
    fold = ds.isel(fold=0)
    np.testing.assert_array_equal(of_parts.dir_at_far_supported, fold.dir_at_far_supported)


@pytest.mark.parametrize(("per_probe", "share"), [(1, 0.5), (1, 0.9), (3, 0.1), (2, 0.0), (2, 0.5)])
def test_claims_are_drawn_as_defined(per_probe, share):
    scores = be.simulate(12, 5, random_state=1)
    gallery = np.flatnonzero((np.arange(60) % 5 == 0) & (np.arange(60) < 45))
    view = scores.select(np.setdiff1d(np.arange(60), gallery), gallery)
    claims = ClaimSampler(per_probe, share, random_state=4).draw(view)
    label, enrolled = view.probe_labels, set(view.gallery_labels.tolist())
    own, unenrolled_probes = set(), 0
    claims_of_probe: dict[int, list] = {}
    for probe, subject, is_known in zip(*claims, strict=True):
        assert subject in enrolled
        assert is_known == (label[probe] in enrolled)
        claims_of_probe.setdefault(int(probe), []).append(subject)
        if subject == label[probe]:
            own.add(int(probe))
        unenrolled_probes += not is_known
    assert all(len(set(x)) == len(x) == per_probe for x in claims_of_probe.values())
    assert sorted(claims_of_probe) == list(range(len(label)))
    enrolled_probes = sum(name in enrolled for name in label)
    assert len(own) == round(share * per_probe * enrolled_probes)
    assert unenrolled_probes == per_probe * (len(label) - enrolled_probes)
    ds = be.verification(view, templates="multi", claims=ClaimSampler(per_probe, share, 4))
    assert int(ds.genuine_attempts) == len(own)
    assert int(ds.impostor_attempts) == per_probe * enrolled_probes - len(own)
    assert int(ds.unenrolled_attempts) == unenrolled_probes
    accepted = [
        sum(
            view.values[probe, view.gallery_labels == subject].min() <= t
            for probe, subject, is_known in zip(*claims, strict=True)
            if not is_known
        )
        for t in ds.threshold.values[[100, 500, 900]]
    ]
    assert ds.fa_unenrolled.values[[100, 500, 900]].tolist() == accepted


def test_claims_that_cannot_be_made():
    scores = be.simulate(6, 3, random_state=1)
    view = scores.select(np.arange(1, 18, 3), np.arange(0, 18, 3))
    cases = [
        (ClaimSampler(2, 1.0), "makes 12 genuine claims of 12, but only 6 probes have a mate"),
        (ClaimSampler(6, 0.0), "6 impostor claims by one probe, but it has only 5 other"),
    ]
    for sampler, words in cases:
        with pytest.raises(be.DataError, match=words):
            be.verification(view, claims=sampler)
    too_few_scores = be.Scores(np.zeros((3, 3)), list("abb"))  # a has no mate but itself
    assert (ClaimSampler(1, 0.66, 1).draw(too_few_scores).probe[[0]] == 0).all()
    with pytest.raises(be.DataError, match="only 2 probes have a mate"):
        ClaimSampler(1, 1.0).draw(too_few_scores)
    for wrong_options in ({"per_probe": 0}, {"genuine": 1.5}, {"genuine": "half"}):
        with pytest.raises(be.DataError, match=next(iter(wrong_options))):
            ClaimSampler(**wrong_options)
    pairs = be.Scores.from_pairs([0.1, 0.2], [True, False])
    with pytest.raises(be.ProtocolError, match="claims"):
        be.verification(pairs, claims=ClaimSampler())
    with pytest.raises(be.DataError, match="expected a ClaimSampler"):
        be.cross_evaluate(scores, Experiment(0.5), claims=["x"])


def test_claims_keep_away_from_what_is_not_compared():
    meta = {"session": [1, 1, 1, 2]}
    scores = be.Scores(np.zeros((4, 4)), list("aabb"), probe_meta=meta).excluding("session")
    assert set(ClaimSampler(1, 0.5).draw(scores).probe[:4]) == {0, 1, 2, 3}
    own = {
        int(p)
        for repeat in range(20)
        for p, s, _ in zip(*ClaimSampler(1, 0.25).draw(scores, repeat), strict=True)
        if s == scores.probe_labels[p]
    }
    assert own == {2, 3}
    mask = np.ones((4, 4), dtype=np.uint8) + (np.equal.outer(list("aabb"), list("aabb")))
    mask[2, 3] = 0
    masked = be.Scores(np.zeros((4, 4)), list("aabb"), mask=mask)
    with pytest.raises(be.DataError, match="only 3 probes have a mate"):
        ClaimSampler(1, 1.0).draw(masked)


def test_claims_of_an_experiment_are_drawn_for_each_part():
    scores = be.simulate(20, 5, random_state=3)
    experiment = Experiment(0.5, None, 1, 0.2, repeats=6, random_state=1)
    ds = be.cross_evaluate(scores, experiment, claims=ClaimSampler(2, 0.25, random_state=5))
    assert (ds.genuine_attempts == 16).all() and (ds.impostor_attempts == 48).all()
    assert (ds.unenrolled_attempts == 20).all()
    assert len(np.unique(ds.fa.sel(part="test"))) > 1
    np.testing.assert_array_equal(ds.far_unenrolled, ds.fa_unenrolled / 20)
    second_result = be.cross_evaluate(
        scores, experiment, claims=ClaimSampler(2, 0.25, random_state=5)
    )
    assert second_result.identical(ds)


def test_what_an_experiment_cannot_do():
    scores = be.simulate(8, 3, random_state=1)
    with pytest.raises(be.ProtocolError, match="neither `train` nor `validation`"):
        be.cross_evaluate(scores, Experiment(gallery_templates=1))
    fixed = be.cross_evaluate(scores, Experiment(gallery_templates=1), threshold=4.0)
    assert np.isnan(fixed.far.sel(part="train")).all() and fixed.attrs["chosen_on"] == "given"
    be.cross_evaluate(scores, Experiment(gallery_templates=1), task="closed_set")
    gallery = be.Scores(np.zeros((4, 2)), list("aabb"), list("ab"))
    with pytest.raises(be.ProtocolError, match="divides one set of templates"):
        be.cross_evaluate(gallery, Experiment(0.5))
    with pytest.raises(be.ProtocolError, match="divides one set of templates"):
        be.repeat(gallery, Experiment(0.5))
    pairs = be.Scores.from_pairs([0.1, 0.2], [True, False])
    with pytest.raises(be.ProtocolError, match="a list of pairs"):
        be.cross_evaluate(pairs, Experiment(0.5))
