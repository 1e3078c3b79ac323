"""Score normalisation by a cohort, against the slow twin."""

import naive_calibration as twin
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
    s, g, p, c = (rng.normal(size=shape) for shape in ((M, N), (N, C), (M, C), (C, C)))
    g[1, 2], s[0, 0] = np.inf, np.inf
    np.fill_diagonal(c, np.nan)
    kind = {"kind": request.param}
    return (
        be.Scores(s, PROBES, GALLERY, **kind), be.Scores(g, GALLERY, COHORT, **kind),
        be.Scores(p, PROBES, COHORT, **kind), be.Scores(c, COHORT, **kind),
    )  # fmt: skip


def closest(values, top, kind):
    return sorted(filter(np.isfinite, values), reverse=kind == "similarity")[:top]


@pytest.mark.parametrize("method", ["z", "t", "s", "zt", "as"])
@pytest.mark.parametrize("turned", [False, True])
def test_normalised_scores_are_those_of_the_definition(data, method, turned):
    scores, gallery, probe, cohort = data
    given = {"gallery_cohort": gallery, "probe_cohort": probe}
    if turned:  # the cohort as rows
        given = {
            name: be.Scores(x.values.T, x.gallery_labels, x.probe_labels, kind=x.kind)
            for name, x in given.items()
        }
    options = {"cohort": cohort} if method == "zt" else {"top": 3} if method == "as" else {}
    result = be.normalise(scores, method, **given, **options)
    assert result.kind == scores.kind and result.shape == scores.shape
    g, p = gallery.values.tolist(), probe.values.tolist()
    if method == "as":
        g, p = ([closest(row, 3, scores.kind) for row in side] for side in (g, p))
    if method == "zt":  # a person of the cohort is not compared with himself
        of = [
            twin.mean_sd([cohort.values[j, k] for k in range(C) if COHORT[k] != COHORT[j]])
            for j in range(C)
        ]
        p = [[(x - mean) / sd for x, (mean, sd) in zip(row, of, strict=True)] for row in p]
    for i in range(M):
        for j in range(N):
            z = twin.mean_sd(g[j]) if method != "t" else None
            t = twin.mean_sd(p[i]) if method != "z" else None
            expected = twin.normalised(scores.values[i, j], z, None if method == "zt" else t)
            if method == "zt":
                expected = twin.normalised(expected, None, t)
            np.testing.assert_allclose(result.values[i, j], expected, rtol=1e-12)


def test_one_cohort_serves_both_sides_of_a_square_matrix():
    everyone = be.simulate(10, 3, random_state=1)
    inside, outside = range(18), range(18, 30)
    scores, cohort = everyone.select(inside, inside), everyone.select(inside, outside)
    result = be.normalise(scores, "s", cohort)
    both = be.normalise(scores, "s", cohort, probe_cohort=everyone.select(outside, inside))
    np.testing.assert_allclose(result.values, both.values)
    assert be.verification(result).genuine_attempts == be.verification(scores).genuine_attempts
    ratios = be.normalise(be.Calibrator().fit_transform(scores), "z", _as_ratios(cohort))
    assert ratios.kind == "similarity"


def _as_ratios(scores: be.Scores) -> be.Scores:
    return be.Scores(scores.values, scores.probe_labels, scores.gallery_labels, kind="llr")


def test_bad_cohorts_are_refused(data):
    scores, gallery, probe, cohort = data
    kind = {"kind": scores.kind}

    def refused(message, *args, error=be.DataError, **options):
        with pytest.raises(error, match=message):
            be.normalise(scores, *args, **options)

    refused("`method` is 'q'", "q")
    refused("`gallery_cohort` is missing", "z")
    refused("`probe_cohort` is missing", "s", gallery)
    refused("`cohort` is missing", "zt", gallery, probe_cohort=probe)
    refused("`top` is missing", "as", gallery, probe_cohort=probe)
    refused("`top` is given", "s", gallery, probe_cohort=probe, top=3)
    refused("`top` is 1; expected an integer >= 2", "as", gallery, probe_cohort=probe, top=1)
    refused("fewer than 7 finite scores of 4 templates", "as", gallery, probe_cohort=probe, top=7)
    shared = be.Scores(gallery.values, GALLERY, ["a", *COHORT[1:]], **kind)
    refused("shares 1 subject with the data, the first is 'a'", "z", shared)
    flat = gallery.values.copy()
    flat[2] = 7
    refused(
        "standard deviation 0.* the first is template 2 .'c'",
        "z",
        be.Scores(flat, GALLERY, COHORT, **kind),
    )
    wrong = be.Scores(gallery.values, ["a", "b", "d", "c"], COHORT, **kind)
    refused("first differ at template 2 .'d', and 'c' expected", "z", wrong)
    refused(
        "neither side is the gallery templates",
        "z",
        be.Scores(np.ones((2, 3)), ["p", "q"], ["x", "y", "z"], **kind),
    )
    other = {"kind": "similarity" if scores.kind == "distance" else "distance"}
    refused(
        "expected scores of one system", "z", be.Scores(gallery.values, GALLERY, COHORT, **other)
    )
    failed = gallery.values.copy()
    failed[3, 1] = np.nan
    refused(
        r"1 failed comparison \(NaN\), the first at row 3, column 1",
        "z",
        be.Scores(failed, GALLERY, COHORT, **kind),
    )
    left_out = be.Scores(failed, GALLERY, COHORT, nan="exclude", **kind)
    assert np.isfinite(be.normalise(scores, "z", left_out).values[1, 3])
    pairs = be.Scores.from_pairs([0.1, 0.2], [1, 0], **kind)
    refused("list of pairs", "z", pairs, error=be.ProtocolError)
