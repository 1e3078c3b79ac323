"""Galleries over time: each probe is compared with the templates enrolled when it is seen."""

from __future__ import annotations

import datetime
from typing import Any

import naive
import naive_galleries
import naive_reid
import numpy as np
import pytest
import strategies
from hypothesis import given, settings, strategies as st
from result_messages import arguments
from twins import assert_all_tasks, floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.base.errors import DataError, ProtocolError
from bioeval.cli import main

OVER_TIME = ("not-enrolled",)
DTYPES = ("float32", "float64")

CARD = """\
schema = 1
name = "over-time"
title = "Galleries over time"
summary = "Each probe is compared with the templates enrolled when it is seen."
layout = "all-against-all"
exclude = ["not-enrolled"]

[source]
text = "This test."

[closed_set]
"""


def column(times: list[int | None], form: str) -> Any:
    """Write small numbers, or None, as numbers, dates or text."""
    if form == "number":
        return np.array([np.nan if t is None else t / 2 for t in times])
    dates = [None if t is None else datetime.date(2020, 1 + t, 1) for t in times]
    if form == "date":
        return np.array(dates, dtype="datetime64[D]")
    if form == "text":
        return ["" if d is None else d.isoformat() for d in dates]
    return dates  # objects


@st.composite
def over_time(draw, **options: Any) -> tuple[dict[str, Any], be.Scores]:
    """A small case with times: the arguments of the twins, and the scores."""
    case = draw(strategies.matrices(dtypes=DTYPES, orders=("C",), **options))
    m, n = case.values.shape
    time = st.one_of(st.none(), st.integers(0, 4))
    enrolled = draw(st.lists(time, min_size=n, max_size=n))
    stay = draw(st.lists(time, min_size=n, max_size=n))
    withdrawn = [
        None if s is None else s + (0 if e is None else e)
        for e, s in zip(enrolled, stay, strict=True)
    ]
    seen = draw(st.lists(time, min_size=m, max_size=m))
    form = draw(st.sampled_from(("number", "date", "text", "object")))
    left_out = draw(st.sampled_from((None, "enrolled_at", "withdrawn_at", "seen_at")))
    columns = {"enrolled_at": enrolled, "withdrawn_at": withdrawn, "seen_at": seen}
    columns.pop(left_out, None)
    times = [
        columns.get(name, [None] * length)
        for name, length in (("enrolled_at", n), ("withdrawn_at", n), ("seen_at", m))
    ]
    written = {name: column(values, form) for name, values in columns.items()}
    if case.square:
        meta = {"probe_meta": written}
    else:
        seen_at = {k: written.pop(k) for k in ("seen_at",) if k in written}
        meta = {"probe_meta": seen_at, "gallery_meta": written}
    scores = be.Scores(**case.scores(), **meta, exclude=OVER_TIME)
    return {**case.naive(), "times": times}, scores


@settings(max_examples=10)
@given(over_time())
def test_every_task_is_that_of_the_twin(given_):
    case, scores = given_
    assert_all_tasks(scores, [-1.0, 0.0, 0.25, 1.0, 50.0], **case)


@settings(max_examples=8)
@given(over_time(layouts=("rectangular",)), st.sampled_from(strategies.IMPOSTORS))
def test_the_roles_of_open_set_follow_the_gallery_of_the_time(given_, impostors):
    case, scores = given_
    options = {"thresholds": [0.0, 0.5], "max_rank": 4, "impostors": impostors}
    found = be.open_set(scores, **options)
    expected = naive.open_set(**case, **options)
    for name in ("genuine_attempts", "impostor_attempts"):
        assert found[name] == getattr(expected, name)
    for name in ("dir", "far", "ttr", "ttr_identity", "ftr"):
        np.testing.assert_allclose(found[name], floats(getattr(expected, name)), atol=1e-12)


@settings(max_examples=5)
@given(over_time(nans=("exclude",)))
def test_galleries_of_one_template(given_):
    case, scores = given_
    expected = naive_galleries.expected(**case, thresholds=[0.0, 0.5], max_rank=3)
    found = be.open_set(scores, gallery="single", rank_unit="subject", thresholds=[0.0, 0.5],
                        max_rank=3)  # fmt: skip
    assert found.genuine_attempts == expected.genuine_attempts
    assert found.impostor_attempts == expected.impostor_attempts
    for name in ("dir", "far", "ttr", "ftr"):
        np.testing.assert_allclose(found[name], floats(getattr(expected, name)), atol=1e-9)


@settings(max_examples=8)
@given(over_time(nans=("exclude", "raise"), kinds=("distance",), allow_inf=False))
def test_reid_and_gom(given_):
    case, scores = given_
    m, n = scores.shape
    cameras = (["a", "b"] * m)[:m], (["a", "b", "b"] * n)[:n]
    if scores._gallery_meta is scores._probe_meta:
        cameras = cameras[0], cameras[0]
    scores = scores._with(
        _probe_meta={**scores.probe_meta, "camera": np.array(cameras[0])},
        _gallery_meta={**scores.gallery_meta, "camera": np.array(cameras[1])},
    )
    rule = "same-id-same-camera"
    expected = naive_reid.gom(case, cameras, [0.0, 0.25, 60.0], removed=rule, budget=2)
    found = be.gom(scores, thresholds=[0.0, 0.25, 60.0], budget=2, normalize=False, max_rank=3)
    for name in ("queries", "open_queries", "skipped"):
        assert found[name] == getattr(expected, name), name
    for name in ("mrp", "mvp", "mrep", "mfr", "ttr"):
        np.testing.assert_allclose(found[name], getattr(expected, name), atol=1e-12)
    listed = naive_reid.reid(case, cameras, removed=rule)
    if listed.queries:
        ds = be.reid(scores, max_rank=5)
        assert ds.queries == listed.queries
        np.testing.assert_allclose(ds.cmc, floats(listed.cmc), atol=1e-12)
        np.testing.assert_allclose(ds.mean_ap, float(listed.mean_ap), atol=1e-12)


@pytest.mark.slow
@settings(max_examples=8)
@given(over_time(nans=("exclude",), kinds=("distance",)), st.integers(0, 2**32 - 1))
def test_the_order_of_the_templates_changes_nothing(given_, seed):
    _, scores = given_
    m, n = scores.shape
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(m), rng.permutation(n)
    if scores.gallery_ids is scores.probe_ids:
        columns = rows
    mixed = scores.select(probes=rows, gallery=columns)
    t = [0.0, 0.25, 1.0]
    for task in (be.verification, be.open_set):
        a, b = (task(x, thresholds=t, **({} if task is be.verification else {"max_rank": 4}))
                for x in (scores, mixed))  # fmt: skip
        names = [name for name in a.data_vars if a[name].dtype == np.int64]
        for name in names:
            np.testing.assert_array_equal(a[name], b[name], err_msg=str(name))


@pytest.mark.slow
@settings(max_examples=8)
@given(strategies.matrices(dtypes=DTYPES, orders=("C",), nans=("exclude",)))
def test_a_gallery_that_never_changes_is_the_plain_one(case):
    m, n = case.values.shape
    always = {"enrolled_at": [0] * n, "withdrawn_at": [np.nan] * n}
    meta = {"probe_meta": {**always, "seen_at": [3] * m}} if case.square else {
        "probe_meta": {"seen_at": [3] * m}, "gallery_meta": always
    }  # fmt: skip
    plain = be.Scores(**case.scores(), **meta)
    scores = plain.excluding(*OVER_TIME)
    for task in (
        lambda x: be.verification(x, templates="multi"),
        be.open_set,
        lambda x: be.closed_set(x, unmated="skip"),
    ):
        assert task(plain).equals(task(scores))


def test_a_subject_that_is_not_enrolled_yet_makes_no_mated_search():
    """Ann is enrolled at 10 and withdrawn at 20; Bob always."""
    d = [[1.0, 5.0]] * 4
    scores = be.Scores(
        d, ["ann"] * 4, ["ann", "bob"],
        probe_meta={"seen_at": [9, 10, 19, 20]},
        gallery_meta={"enrolled_at": [10, np.nan], "withdrawn_at": [20, np.nan]},
        exclude="not-enrolled",
    )  # fmt: skip
    found = be.open_set(scores, thresholds=[1, 5])
    assert (found.genuine_attempts, found.impostor_attempts) == (2, 2)
    assert found.fa.values.tolist() == [0, 2]
    assert found.dir.sel(rank=1).values.tolist() == [1, 1]
    assert found.attrs["impostors"] == "unenrolled"
    at_the_time = arguments(found, "enrolled-at-the-time")
    assert at_the_time == {"least": 1, "most": 2, "templates": 2, "mean": 1.5}
    single = be.verification(scores, thresholds=[1, 5])
    assert (single.genuine_attempts, single.impostor_attempts) == (2, 4)
    with pytest.raises(ProtocolError, match="2 of 4 probes"):
        be.closed_set(scores)
    plain = be.open_set(scores.excluding(), thresholds=[1, 5])
    assert (plain.genuine_attempts, plain.attrs["impostors"]) == (4, "leave-subject-out")


def test_sessions_and_times_are_left_out_together():
    meta = {"session": [1, 1, 2, 2], "enrolled_at": [0, 1, 2, 3], "seen_at": [0, 1, 2, 3]}
    scores = be.Scores(np.arange(16.0).reshape(4, 4), [0] * 4, probe_meta=meta)
    both = scores.excluding("session", "not-enrolled")
    assert be.verification(both, thresholds=[99]).ga == 4  # (2, 0) (2, 1) (3, 0) (3, 1)
    assert be.verification(scores.excluding("not-enrolled"), thresholds=[99]).ga == 6


@pytest.mark.slow
def test_large_matrices_and_embeddings():
    rng = np.random.default_rng(1)
    x, who = rng.normal(size=(600, 4)), np.repeat(np.arange(150), 4)
    meta = {"enrolled_at": rng.integers(0, 9, 600), "seen_at": rng.integers(0, 9, 600)}
    options = {"metric": "l2", "probe_meta": meta, "exclude": OVER_TIME}
    whole = be.Scores.from_embeddings(x, who, **options)
    there = meta["enrolled_at"][None] <= meta["seen_at"][:, None]
    np.fill_diagonal(there, False)
    same = who[:, None] == who
    for scores in (whole, be.Scores.from_embeddings(x, who, memory_limit=1, **options)):
        ds = be.verification(scores, thresholds=[1.0])
        assert ds.genuine_attempts == (there & same).sum()
        assert ds.fa == (there & ~same & (whole.values <= 1.0)).sum()


@pytest.mark.parametrize("ending", ["npz", "npy"])
def test_files_keep_times(tmp_path, ending):
    """The gallery of a CSV file has blank cells for templates that were never withdrawn."""
    meta = {
        "enrolled_at": np.array(["2020-01-01", "2020-02-01", "NaT"], dtype="datetime64[D]"),
        "withdrawn_at": np.array(["NaT", "2020-03-01T12", "NaT"], dtype="datetime64[s]"),
        "seen_at": np.array(["2020-01-15"] * 3, dtype="datetime64[D]"),
    }
    scores = be.Scores(np.arange(9.0).reshape(3, 3), [0, 0, 1], probe_meta=meta, exclude=OVER_TIME)
    be.save(scores, tmp_path / f"x.{ending}")
    again = be.load(tmp_path / f"x.{ending}")
    assert again.exclude == OVER_TIME
    assert be.verification(again, thresholds=[9]).equals(be.verification(scores, thresholds=[9]))
    assert again._enrolment_times.sizes().tolist() == [2, 2, 2]


def test_the_command_line_and_a_card(tmp_path, capsys):
    meta = {"enrolled_at": [0, 1, 2, 3], "seen_at": [0, 1, 2, 3]}
    scores = be.Scores(np.arange(16.0).reshape(4, 4), [0, 0, 1, 1], probe_meta=meta)
    be.save(scores, tmp_path / "x.npz")
    assert main(["run", str(tmp_path / "x.npz"), "--exclude", "not-enrolled"]) == 0
    assert "enrolled at its time" in " ".join(capsys.readouterr().out.split())
    card = tmp_path / "over-time.toml"
    card.write_text(CARD)
    tree = be.evaluate(scores, str(card))
    plain = be.closed_set(scores.excluding("not-enrolled"))
    assert tree["closed_set"].to_dataset().equals(plain)
    assert be.tally(scores, str(card)).dataset("closed_set").attrs["exclude"] == "not-enrolled"
    assert main(["protocols", str(card)]) == 0
    assert "Left out exclude = not-enrolled" in " ".join(capsys.readouterr().out.split())
    card.write_text(CARD + "[reid]\n" + 'removed = "none"\n')
    found, same = be.reid(scores, str(card)), scores.excluding("not-enrolled")
    assert found.equals(be.reid(same, str(card)))
    assert found.queries == 2


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"enrolled_at": ["2020-01-01", "01.02.2020"]}, r"enrolled_at'\]: row 1 is '01.02.2020'"),
        ({"enrolled_at": ["2020-01-01", "2020-02-30"]}, r"row 1 is '2020-02-30'"),
        ({"enrolled_at": ["2020-01-01T10:00Z", "2020-02-03"]}, r"row 0 is .*without a time zone"),
        ({"enrolled_at": ["2020-01-01", "7"]}, r"row 1 is '7'; a number among dates"),
        ({"enrolled_at": [1, True]}, r"row 1 is True"),
        ({"enrolled_at": [False, True]}, r"has dtype bool"),
        ({"enrolled_at": [1, 2], "seen_at": ["2020-01-01"] * 2}, "enrolled_at numbers; expected"),
        ({"enrolled_at": [5, 6], "withdrawn_at": [5, 5]}, "1 templates are withdrawn.* row 1"),
        ({"enrolled_at": [2**53 + 1, 1], "seen_at": [0.5, 1]}, r"times beyond 2\*\*53"),
        ({"seen_at": np.array([1, 2], "M8[ns]")}, "row 0 .* whole microseconds"),
        ({"session": [1, 2]}, "expected the metadata enrolled_at or withdrawn_at"),
    ],
)  # fmt: skip
def test_wrong_times_are_refused(meta, message):
    with pytest.raises(DataError, match=message):
        be.Scores(np.ones((2, 2)), [1, 1], probe_meta=meta, exclude="not-enrolled")


def test_what_has_no_times_is_refused():
    scores = be.simulate(6, 3)
    with pytest.raises(DataError, match="Did you mean 'not-enrolled'"):
        scores.excluding("not_enrolled")
    meta = {"enrolled_at": [0, 1, 2], "seen_at": [3, 3, 3]}
    over = be.Scores(np.ones((3, 3)), [0, 0, 1], probe_meta=meta, exclude="not-enrolled")
    with pytest.raises(ProtocolError, match="over_time"):
        be.gallery_size(over, [1])
    never = be.Scores(np.ones((3, 3)), [0, 0, 1], probe_meta={"seen_at": [1, 2, 3]},
                      exclude="not-enrolled")  # fmt: skip
    lacking = arguments(be.closed_set(never), "enrolment-times-not-used")
    assert lacking["columns"] == ["enrolled_at", "withdrawn_at"]


def test_whole_numbers_are_exact():
    meta = {"enrolled_at": ["9007199254740993", "0"], "seen_at": [2**53, 2**53 + 1]}
    scores = be.Scores(np.ones((2, 2)), [1, 1], probe_meta=meta, exclude="not-enrolled")
    assert scores._enrolment_times.sizes().tolist() == [1, 2]
    meta["enrolled_at"][1] = "nan"
    with pytest.raises(DataError, match="row 0 is '9007199254740993'"):
        be.Scores(np.ones((2, 2)), [1, 1], probe_meta=meta, exclude="not-enrolled")
