"""Score normalisation by a cohort, against naive_fusion.py."""

import naive_fusion as naive
import numpy as np
import pytest

import bioeval as be

M, N, C = 5, 4, 6
PROBES, GALLERY, COHORT = (
    ["a", "b", "c", "a", "d"],
    ["a", "b", "c", "c"],
    ["x", "x", "y", "z", "u", "v"],
)


@pytest.fixture(params=["distance", "similarity"])
def data(request):
    """Scores, gallery against cohort, probes against cohort, and the cohort against itself."""
    rng = np.random.default_rng(3)
    trial_scores, gallery_cohort, probe_cohort, between_cohort = (
        rng.normal(size=shape) for shape in ((M, N), (N, C), (M, C), (C, C))
    )
    gallery_cohort[1, 2], trial_scores[0, 0] = np.inf, np.inf
    np.fill_diagonal(between_cohort, np.nan)
    kind = {"kind": request.param}
    return (
        be.Scores(trial_scores, PROBES, GALLERY, **kind),
        be.Scores(gallery_cohort, GALLERY, COHORT, **kind),
        be.Scores(probe_cohort, PROBES, COHORT, **kind), be.Scores(between_cohort, COHORT, **kind),
    )  # fmt: skip


def closest(values, top, kind):
    return sorted(filter(np.isfinite, values), reverse=kind == "similarity")[:top]


@pytest.mark.parametrize("method", ["z", "t", "s", "zt", "as"])
@pytest.mark.parametrize("turned", [False, True])
def test_normalised_scores_are_those_of_the_definition(data, method, turned):
    scores, gallery, probe, cohort = data
    cohorts = {"gallery_cohort": gallery, "probe_cohort": probe}
    if turned:  # the cohort as rows
        cohorts = {
            name: be.Scores(x.values.T, x.gallery_labels, x.probe_labels, kind=x.kind)
            for name, x in cohorts.items()
        }
    options = {"cohort": cohort} if method == "zt" else {"top": 3} if method == "as" else {}
    result = be.normalise(scores, method, **cohorts, **options)
    assert result.kind == scores.kind and result.shape == scores.shape
    gallery_rows, probe_rows = gallery.values.tolist(), probe.values.tolist()
    if method == "as":
        gallery_rows, probe_rows = (
            [closest(row, 3, scores.kind) for row in side] for side in (gallery_rows, probe_rows)
        )
    if method == "zt":  # a person of the cohort is not compared with himself
        probe_statistics = [
            naive.mean_sd([cohort.values[j, k] for k in range(C) if COHORT[k] != COHORT[j]])
            for j in range(C)
        ]
        probe_rows = [
            [(x - mean) / sd for x, (mean, sd) in zip(row, probe_statistics, strict=True)]
            for row in probe_rows
        ]
    for i in range(M):
        for j in range(N):
            gallery_mean_sd = naive.mean_sd(gallery_rows[j]) if method != "t" else None
            probe_mean_sd = naive.mean_sd(probe_rows[i]) if method != "z" else None
            expected = naive.normalised(
                scores.values[i, j], gallery_mean_sd, None if method == "zt" else probe_mean_sd
            )
            if method == "zt":
                expected = naive.normalised(expected, None, probe_mean_sd)
            np.testing.assert_allclose(result.values[i, j], expected, rtol=1e-12)


def test_one_cohort_serves_both_sides_of_a_square_matrix():
    everyone = be.simulate(10, 3, random_state=1)
    trial_people, outside = range(18), range(18, 30)
    scores, cohort = (
        everyone.select(trial_people, trial_people),
        everyone.select(trial_people, outside),
    )
    result = be.normalise(scores, "s", cohort)
    two_cohorts = be.normalise(
        scores, "s", cohort, probe_cohort=everyone.select(outside, trial_people)
    )
    np.testing.assert_allclose(result.values, two_cohorts.values)
    assert be.verification(result).genuine_attempts == be.verification(scores).genuine_attempts


def of_gallery(of, labels=GALLERY, people=COHORT, other_kind=False, **rows):
    """Scores of the gallery against a cohort with other labels, another kind, other values."""
    values = of.values.copy()
    for row, value in rows.items():
        values[int(row[1:])] = value
    kind = of.kind
    if other_kind:
        kind = "similarity" if kind == "distance" else "distance"
    return be.Scores(values, labels, people, kind=kind)


FAILED = {"_3": [0.1, np.nan, 0.3, 0.4, 0.5, 0.6]}


@pytest.mark.parametrize(
    ("method", "gallery", "options", "says"),
    [
        ("q", None, {}, "`method` is 'q'"),
        ("z", None, {}, "`gallery_cohort` is missing"),
        ("zt", {}, {}, "`cohort` is missing"),
        ("as", {}, {}, "`top` is missing"),
        ("s", {}, {"top": 3}, "`top` is given"),
        ("as", {}, {"top": 1}, "`top` is 1; expected an integer >= 2"),
        ("as", {}, {"top": 7}, "fewer than 7 finite scores of 4 templates"),
        ("s", {}, {"probe_cohort": None}, "`probe_cohort` is missing"),
        ("z", {"people": ["a", *COHORT[1:]]}, {}, "shares 1 subject with the data, .* is 'a'"),
        ("z", {"_2": 7}, {}, "standard deviation 0.* the first is template 2 .'c'"),
        ("z", {"labels": list("abdc")}, {}, "first differ at template 2 .'d', and 'c' expected"),
        ("z", {"other_kind": True}, {}, "expected scores of one system"),
        ("z", FAILED, {}, r"1 failed comparison \(NaN\), the first at row 3, column 1"),
    ],
)  # fmt: skip
def test_bad_cohorts_are_refused(data, method, gallery, options, says):
    scores, gallery_scores, probe, _ = data
    if gallery is not None:
        needs_probes = {"probe_cohort": probe} if method != "z" else {}
        options = {
            "gallery_cohort": of_gallery(gallery_scores, **gallery),
            **needs_probes,
            **options,
        }
    with pytest.raises(be.DataError, match=says):
        be.normalise(scores, method, **options)


def test_cohorts_of_other_layouts(data):
    scores, gallery, *_ = data
    excluding = of_gallery(gallery, **FAILED).replace(nan="exclude")
    assert np.isfinite(be.normalise(scores, "z", excluding).values[1, 3])
    with pytest.raises(be.ProtocolError, match="list of pairs"):
        be.normalise(scores, "z", be.Scores.from_pairs([0.1, 0.2], [1, 0], kind=scores.kind))
    other_people = be.Scores(np.ones((2, 3)), ["p", "q"], ["x", "y", "z"], kind=scores.kind)
    with pytest.raises(be.DataError, match="neither side is the gallery templates"):
        be.normalise(scores, "z", other_people)
