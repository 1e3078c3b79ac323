"""Claim scores: what a claim is compared with is decided before anything is counted."""

import re

import naive
import numpy as np
import pandas as pd
import pytest
import strategies as cases
from hypothesis import HealthCheck, given, settings, strategies as st
from strategies import examples_of

import bioeval as be
from bioeval.scores import blocks, rows

RELAXED = settings(
    max_examples=examples_of(15),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@RELAXED
@given(
    st.data(), st.sampled_from(("single", "multi")), st.sampled_from(cases.FUSIONS), st.booleans()
)
def test_they_equal_the_definition(data, templates, fusion, one_row_at_a_time):
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    m = len(case.values)
    column = data.draw(st.lists(st.sampled_from(["x", "y"]), min_size=m, max_size=m))
    scores = be.Scores(**case.scores(), probe_meta={"visit": column})
    genuine, impostor, incomplete = naive.attempts_of_transactions(
        **case.naive(), column=column, templates=templates, fusion=fusion
    )
    thresholds = data.draw(cases.thresholds(case, extra=[*genuine, *impostor]))
    block_values, small = rows.BLOCK_VALUES, blocks.LISTED
    if one_row_at_a_time:  # the tries of an attempt are then read in parts
        rows.BLOCK_VALUES = blocks.LISTED = 1
    try:
        claims = be.claim_scores(scores, templates=templates, fusion=fusion, attempts="visit")
    finally:
        rows.BLOCK_VALUES, blocks.LISTED = block_values, small
    ds = be.verification(claims, thresholds=thresholds)
    counts = naive.verification_counts(genuine, impostor, thresholds, case.kind)
    assert (ds.genuine_attempts, ds.impostor_attempts) == (len(genuine), len(impostor))
    roles = ("genuine", "impostor")
    assert tuple(ds.attrs.get(f"incomplete_{x}", 0) for x in roles) == incomplete
    for name, expected in zip(("ga", "fr", "fa", "gr"), counts, strict=True):
        np.testing.assert_array_equal(ds[name], expected)
    if genuine and impostor:
        eer = naive.eer(genuine, impostor, case.kind).value
        np.testing.assert_allclose(float(ds.eer), float(eer), rtol=0, atol=1e-12)


def door(**more):
    """Probes of 24 people, of 2 visits with 3 tries each, against 4 templates of each."""
    return be.simulate(
        24, 4, layout="probe-against-gallery", probes=6, sessions=3, random_state=3, **more
    )


def test_the_first_templates_are_enrolled_and_the_others_probe():
    values = np.arange(36.0).reshape(6, 6)
    meta = {"taken": [3, 2, 1, 1, 2, 3], "visit": [1, 2, 3, 1, 2, 3]}
    scores = be.Scores(values, list("aaabbb"), probe_meta=meta)
    first = be.claim_scores(scores, enrol="first:2")
    np.testing.assert_array_equal(first.values, [[12, 15], [30, 33]])
    by_time = be.claim_scores(scores, enrol="first:2:taken")
    np.testing.assert_array_equal(by_time.values, [[1, 3], [31, 33]])
    single = be.claim_scores(scores, enrol="first:1", templates="single", attempts="visit")
    assert single.shape == (4, 2)
    assert single.values.min() == 6


def test_subjects_with_fewer_templates_are_counted():
    scores = be.Scores(np.arange(6.0).reshape(2, 3), ["a", "b"], ["a", "a", "b"])
    by_order, message = be.claim_scores(scores, enrol="first:2").remarks
    assert by_order.code == "first-by-order"  # there are no names
    assert message.arguments == {"subjects": 1, "templates": 2}
    codes = [x.code for x in be.messages(be.verification(be.claim_scores(scores, enrol="first:2")))]
    assert "fewer-templates-than-enrolled" in codes
    second_nearest = be.claim_scores(scores, fusion="kth:2")  # of whom there is one, there is none
    np.testing.assert_array_equal(second_nearest.values, [[1, np.nan], [4, np.nan]])


def test_they_keep_names_exclusions_and_the_metadata_of_the_first_try():
    base = be.simulate(8, 4, sessions=2, random_state=1)
    sex = np.where(base.probe_labels % 2, "f", "m")
    meta = {"session": base.probe_meta["session"], "sex": sex, "place": np.arange(32)}
    scores = be.Scores(
        base.values, base.probe_labels, probe_meta=meta, exclude="session", name="door"
    )
    claims = be.claim_scores(scores, attempts="session")
    assert claims.name == "door"
    ds = be.verification(claims)
    assert (ds.attrs["system"], ds.attrs["exclude"]) == ("door", "session")
    words = "an attempt consists of all tries of a subject with the same session (at most 2)"
    assert words in ds.attrs["use"]
    assert claims.probe_meta["place"].tolist() == [i for i in range(32) if i % 4 < 2]
    assert set(claims.gallery_meta) == {"sex"}


def test_searches_take_the_scores_themselves():
    claims = be.claim_scores(door())
    calls = [be.open_set, be.closed_set, be.ranks, be.gallery_size]
    calls += [lambda s: be.evaluate(s, "course-probe-vs-gallery")]
    for call in calls:
        with pytest.raises(be.ProtocolError, match="give the scores that the claims were made of"):
            call(claims)
    with pytest.raises(be.ProtocolError, match="re-identification ranks the templates"):
        be.reid(claims, "market1501")
    assert [node.path for node in be.evaluate(claims).leaves] == ["/verification/claims"]


GAPS = be.Scores(np.ones((3, 3)), ["a", "a", "b"], probe_meta={"visit": ["x", None, "y"]})
TWO = GAPS.select(range(2), range(2))


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (door(), {"attempts": "sesion"}, r"`attempts` names 'sesion'.*Did you mean 'session'\?"),
        (GAPS, {"attempts": "visit"}, "1 probe without a value in 'visit', the first is probe 1"),
        (be.Scores.from_pairs([0.1, 0.2], [1, 0]), {"attempts": "visit"}, "fixed pairs"),
        *(
            (door(), {"enrol": wrong}, "expected the first templates of each subject")
            for wrong in (3, "3", "first", "first:", "first:0", "first:x", "first:2:", "last:2")
        ),
        (door(), {"enrol": "first:5"}, "no subject has more than 4 templates"),
        (door(), {"enrol": "first:2:taken"}, "names 'taken'"),
        (door(), {"enrol": "first:2", "fusion": "kth:3"}, "expected kth:2 or less"),
        (TWO, {"enrol": "first:2"}, "leaves no template to probe with"),
    ],
)
def test_errors_say_what_and_where(scores, options, message):
    with pytest.raises(be.BioevalError, match=message):
        be.claim_scores(scores, **options)


def enrolled_first(taken, **more):
    """Return which of three templates of one person is the first by a column."""
    meta = {"taken": taken}
    scores = be.Scores(
        [[0.0, 1.0, 2.0], [5.0, 6.0, 7.0]], ["a", "b"], ["a", "a", "a"], gallery_meta=meta, **more
    )
    return int(be.claim_scores(scores, enrol="first:1:taken").values[0, 0])


@pytest.mark.parametrize(
    ("taken", "first"),
    [
        (["10:00", "9:59", "23:00"], 1),
        (["2024-03-02T10:00", "2024-03-02 09:30:00", "2024-03-03"], 1),
        (["2024-03-02T10:00+02:00", "2024-03-02T09:30Z", "2024-03-03T00:30+09:00"], 0),
        (["2024-10-02", "2024-9-30", "2024-11-01"], 1),
        (np.array([86_400, 30, 7_200], dtype="timedelta64[s]"), 1),
        (pd.to_timedelta(["2D", "3h", "1D"]), 1),
        (pd.Categorical(["late", "noon", "early"], ["early", "noon", "late"], ordered=True), 2),
        (["img_10", "img_9", "img_11"], 1),
        (["10.5", "9", "11"], 1),
    ],
)
def test_enrolled_templates_are_ordered_by_what_values_are(taken, first):
    assert enrolled_first(taken) == first
    assert enrolled_first(pd.Series(taken)) == first


def test_an_order_that_is_known_is_kept_by_a_selection():
    sizes = pd.Categorical(["l", "s", "m", "s"], ["s", "m", "l"], ordered=True)
    table = pd.DataFrame({"size": sizes})
    scores = be.Scores(np.arange(8.0).reshape(2, 4), ["a", "b"], list("aaaa"), gallery_meta=table)
    claims = be.claim_scores(scores.select(gallery=[0, 2]), enrol="first:1:size")
    assert claims.values[0, 0] == 2


@pytest.mark.parametrize(
    ("taken", "says"),
    [
        (["01/02/2024", "03/04/2024", "05/06/2024"], "day 1 of month 2 or the reverse; write"),
        (["10 May 2024", "9 June 2024", "1 July 2024"], "'10 May 2024' is a date or a time in"),
        (["3:15 p.m.", "12:15 p.m.", "4:15 p.m."], "'3:15 p.m.' .*write .*times as 15:30"),
        (["25.12.2023", "01.01.2024", "31.12.2024"], "'25.12.2023' .*; write dates as 2024-04-03"),
        (["morning", "noon", "evening"], "'morning' .*no order|no order that is known"),
        (pd.Categorical(["x", "y", "z"]), "no order that is known"),
        (["13/13/2024", "01/02/2024", "05/06/2024"], "'13/13/2024' is a date .*form than ISO's;"),
    ],
)
def test_what_cannot_be_ordered_is_refused(taken, says):
    with pytest.raises(be.DataError, match=says):
        enrolled_first(taken)


def joined(visits, people="aabb", **columns):
    meta = {"visit": visits, **columns}
    scores = be.Scores(np.ones((len(visits), 2)), list(people), ["a", "b"], probe_meta=meta)
    remarks = be.claim_scores(scores, attempts="visit").remarks
    return [x.arguments for x in remarks if x.code == "visits-joined"]


def test_visits_whose_names_begin_anew_are_named():
    assert joined([1, 1, 1, 1]) == joined([1, 2, 3, 4]) == []
    days = ["2024-01-01", "2024-01-02", "2024-01-01", "2024-01-01"]
    (two_days,) = joined([1, 1, 1, 1], day=days)
    assert (two_days["visits"], two_days["person"], two_days["visit"]) == (1, "a", "1")
    times = pd.to_datetime(
        ["2024-01-01 08:00", "2024-01-01 08:01", "2024-01-05 07:00", "2024-01-06 07:00"]
    )
    (two_days,) = joined([1, 1, 2, 2], at=times)
    assert two_days["person"] == "b"
    columns = [("day", [1, 2, 1, 1]), ("Date", ["Mon", "Tue", "Mon", "Mon"])]
    for title, days in (*columns, ("day", ["d1", "d2", "d1", None])):
        (two_days,) = joined([1, 1, 1, 1], **{title: np.array(days, dtype=object)})
        assert (two_days["visits"], two_days["person"]) == (1, "a") and title in two_days["why"]
    assert joined([1, 1, 1, 1], day=[3, 3, 4, 4]) == joined([1, 1, 1, 1], lens=[1, 2, 3, 4]) == []
    (two_people,) = joined([1, 2, 2, 3, 4], "aabbb")
    assert two_people["visits"] == 2 and "another person" in two_people["why"]
    (long,) = joined([1] * 11 + [2, 3, 4, 5], "a" * 15)
    assert (long["visits"], long["visit"]) == (1, "1")


# --------------------------------------------------------------------------- several tries


def ending(scores, threshold):
    """Return the tries of visits that end with an accepted try, and the share of such visits."""
    own = np.where(scores.probe_labels[:, None] == scores.gallery_labels, scores.values, np.inf)
    visits = list(zip(scores.probe_labels, scores.probe_meta["session"], strict=True))
    accepted, kept_rows = set(), []
    for i, visit in enumerate(visits):
        if visit not in accepted:
            kept_rows.append(i)
        if own[i].min() <= threshold:
            accepted.add(visit)
    return scores.select(probes=kept_rows), len(accepted) / len(set(visits))


def test_the_heading_says_which_share_of_visits_end_when_accepted():
    log, share = ending(door(), 3.0)
    for scores, said in ((door(), False), (log, True)):
        claims = be.claim_scores(scores, attempts="session")
        text = " ".join(be.to_markdown(be.verification(claims)).split())
        assert "Verification, visits, best of their tries; all templates" in text
        stated = re.search(r"; (\d+) % of the visits seem to end at their first accepted", text)
        assert bool(stated) == said
    assert int(stated[1]) == pytest.approx(100 * share, abs=5)


def test_unequal_numbers_of_tries_are_said():
    """Each person makes one try as themselves in each visit, and two as another person."""
    own, other = [0.2, np.nan, np.nan, np.nan, 0.7, 0.9], [np.nan, 0.9, 0.8, 0.1, np.nan, np.nan]
    values = np.column_stack([own, other])
    meta = {"visit": [1, 2, 2, 3, 4, 4]}
    scores = be.Scores(values, list("aaabbb"), list("ab"), nan="exclude", probe_meta=meta)
    text = be.claim_scores(scores, attempts="visit").claims
    assert "genuine attempts have 1.00 tries on average, impostor attempts 2.00" in text


def test_failures_of_visits_are_those_of_visits_and_of_comparisons():
    values = np.array([[np.nan, 5.0], [np.nan, 6.0], [4.0, np.nan], [5.0, 1.0]])
    scores = be.Scores(
        values, list("aabb"), list("ab"), nan="reject", probe_meta={"visit": [1, 1, 1, 1]}
    )
    result = be.verification(be.claim_scores(scores, attempts="visit"))
    (stated,) = [x.arguments for x in be.messages(result) if x.code == "failures-of-visits"]
    assert (stated["genuine"], stated["impostor"]) == (1, 0)
    assert (stated["tries_genuine"], stated["tries_impostor"]) == (3, 0)
