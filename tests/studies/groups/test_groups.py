"""Verification by group: counts, intervals, errors, and the sides of lists."""

import math

import matplotlib as mpl
import naive
import naive_groups
import numpy as np
import pytest
import scipy
import strategies as cases
from hypothesis import given, settings, strategies as st
from naive_folds import RULES
from naive_groups import without_totals
from reference import floats, one_thread  # noqa: F401
from result_messages import arguments, codes

import bioeval as be
from bioeval.cli import main


@st.composite
def grouped(draw, **options):
    """Draw a case, and a group for each subject."""
    case = draw(cases.matrices(masks=("none", "labelled"), **options))
    labels = set(naive.as_list(case.probe_labels)) | set(naive.as_list(case.gallery_labels) or ())
    number = draw(st.integers(1, 3))
    group = {x: draw(st.integers(0, number - 1)) for x in sorted(labels, key=str)}
    return case, group


def of_templates(case, group):
    probe = [group[x] for x in naive.as_list(case.probe_labels)]
    if case.gallery_labels is None:
        return probe
    return probe, [group[x] for x in naive.as_list(case.gallery_labels)]


def assert_groups(ds, expected, group):
    groups = sorted(set(group.values()))
    names = [*groups, "all"]
    assert ds.group.values.tolist() == list(map(str, names)) == ds.claimed_group.values.tolist()
    for name in ("fr", "genuine_attempts", "frr"):
        np.testing.assert_array_equal(
            ds[name], floats([expected[name][g] for g in names]), err_msg=name
        )
    for name in ("fa", "impostor_attempts", "far"):
        values = [[expected[name][g, h] for h in names] for g in names]
        np.testing.assert_array_equal(ds[name], floats(values), err_msg=name)


@settings(max_examples=8)
@given(data=st.data())
def test_groups_are_those_of_their_definition(data):
    case, group = data.draw(grouped())
    rule = data.draw(st.sampled_from(RULES))
    scores = be.Scores(**case.scores())
    ds = be.by_group(scores, of_templates(case, group), threshold=rule)
    attempts = naive_groups.attempts(naive.read(**case.naive()))
    genuine, impostor = ([a.score for a in attempts if a.genuine is x] for x in (True, False))
    threshold = naive.threshold_of(rule, genuine, impostor, case.kind)
    if threshold is None:
        assert math.isnan(ds.threshold) and np.isnan(ds.frr).all() and np.isnan(ds.far).all()
        return
    np.testing.assert_array_equal(ds.threshold, float(threshold))
    assert_groups(ds, naive_groups.by_group(attempts, group, threshold, case.kind), group)
    of_groups = [sum(x == g for x in group.values()) for g in sorted(set(group.values()))]
    assert ds.subjects.values.tolist() == [*of_groups, len(group)]


@pytest.fixture(scope="module")
def scores():
    simulated = be.simulate(30, 4, random_state=5)
    sex = np.array(["fm"[x % 2] for x in simulated.probe_labels.tolist()])
    meta = {"sex": sex, "height": np.arange(120.0)}
    return be.Scores(simulated.values, simulated.probe_labels, probe_meta=meta)


@pytest.fixture(scope="module")
def drawn(scores):
    return be.by_group(scores, "sex", threshold="far=0.02", interval="people")


def disjoint_pairs(pairs, within):
    """The most pairs without a person in common; within a group all people were compared."""
    probes, claimed = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
    if within:
        return min(len(probes), len(claimed), len({*probes, *claimed}) // 2)
    is_pair = np.zeros((len(probes), len(claimed)), dtype=np.int8)
    for probe, claimed_person in pairs:
        is_pair[probes.index(probe), claimed.index(claimed_person)] = 1
    match = scipy.sparse.csgraph.maximum_bipartite_matching(scipy.sparse.csr_array(is_pair))
    return int((match >= 0).sum())


def test_intervals_come_by_default_where_they_are_quick(scores):
    by_default = be.by_group(scores, "sex", threshold="far=0.02")
    assert by_default.identical(be.by_group(scores, "sex", threshold="far=0.02", interval="people"))
    assert "frr_low" not in be.by_group(scores, "sex", threshold="far=0.02", interval=None)
    for subjects, has_limits in ((19, False), (20, True), (1000, True), (1001, False)):
        alike = be.Scores(np.arange(subjects) % 7 * np.ones((subjects, 1)), np.arange(subjects))
        ds = be.by_group(
            alike, ["x", "y"] * (subjects // 2) + ["x"] * (subjects % 2), threshold=3.0
        )
        assert ("far_low" in ds) == has_limits, subjects


@pytest.mark.parametrize("layout", ["square", "gallery", "pairs"])
def test_rates_of_groups_have_limits_by_leaving_out_each_person(scores, layout):
    """Of both groups, on all sides; the rates of pairs of groups too, with one error or none."""
    labels = np.asarray(scores.probe_labels)
    group = np.where(labels % 3, "m", "f")
    groups_given, group_of = group, dict(zip(labels.tolist(), group.tolist(), strict=True))
    rows, columns = np.nonzero(~np.eye(len(labels), dtype=bool))
    of_scores = scores
    if layout == "gallery":  # other templates of most people, and more people
        probes, gallery = (np.flatnonzero(x) for x in (labels % 7, np.arange(120) % 4 == 0))
        rows, columns = (x.ravel() for x in np.meshgrid(probes, gallery, indexing="ij"))
        of_scores = be.Scores(
            scores.values[np.ix_(probes, gallery)], labels[probes], labels[gallery]
        )
        groups_given = group[probes], group[gallery]
    elif layout == "pairs":
        rows, columns = rows[rows < columns], columns[rows < columns]
        of_scores, groups_given = scores.at_pairs(rows, columns), (group[rows], group[columns])
    pair_labels = list(zip(labels[rows].tolist(), labels[columns].tolist(), strict=True))
    values = scores.values[rows, columns]
    for threshold in (2.0, 3.0, 3.5):
        ds = be.by_group(of_scores, groups_given, threshold=threshold, interval="people")
        for probe_group in "fm":
            mates = [
                (bool(x > threshold), (p,))
                for x, (p, c) in zip(values, pair_labels, strict=True)
                if p == c and group_of[p] == probe_group
            ]
            people = len({p for _, (p,) in mates})
            ends = [float(ds[f"frr_{end}"].sel(group=probe_group)) for end in ("low", "high")]
            np.testing.assert_allclose(ends, naive_groups.left_out_limits(mates, people), rtol=1e-9)
            for claimed_group in "fm":
                impostors = [
                    (bool(x <= threshold), (p, c))
                    for x, (p, c) in zip(values, pair_labels, strict=True)
                    if p != c and (group_of[p], group_of[c]) == (probe_group, claimed_group)
                ]
                disjoint = disjoint_pairs(
                    [people for _, people in impostors], probe_group == claimed_group
                )
                cell = ds.sel(group=probe_group, claimed_group=claimed_group)
                expected = naive_groups.left_out_limits(impostors, disjoint)
                ends = [float(cell[f"far_{end}"]) for end in ("low", "high")]
                np.testing.assert_allclose(
                    ends, expected, rtol=1e-9, err_msg=f"{threshold} {probe_group} {claimed_group}"
                )


def test_a_group_of_one_person_has_no_limits_of_frr_and_says_so(scores):
    group = np.where(np.asarray(scores.probe_labels) == 1, "x", "y")
    ds = be.by_group(scores, group, threshold=3.0, interval="people")
    assert np.isnan(ds.frr_low.sel(group="x")) and not np.isnan(ds.frr_low.sel(group="y"))
    assert "x" in arguments(ds, "groups-of-few-subjects")["groups"]
    # Of one probe, its FAR against the others is that of one trial.
    assert ds.far_high.sel(group="x", claimed_group="y") >= 0.95


def test_no_error_is_no_certainty(scores):
    ds = without_totals(be.by_group(scores, "sex", threshold=-1.0, interval="people"))
    assert (ds.far == 0).all() and (ds.frr == 1).all()
    bound_within, bound_across = be.stats.zero_error_bound([7, 15])
    np.testing.assert_allclose(
        ds.far_high, [[bound_within, bound_across], [bound_across, bound_within]]
    )
    np.testing.assert_allclose(ds.frr_low, 1 - be.stats.zero_error_bound(15))
    assert "groups-not-compared" in codes(ds) and "rates-of-groups-undefined" not in codes(ds)


def test_groups_too_small_to_rank_are_flagged(scores, drawn):
    assert drawn.few_subjects.to_series().to_dict() == {"f": 1, "m": 1, "all": 0}
    few_subjects = {"needed": 30, "groups": ["f", "m"]}
    assert arguments(drawn, "groups-of-few-subjects") == few_subjects
    one_group = be.by_group(scores, ["x"] * 120, threshold=1e9)
    assert (one_group.few_subjects == 0).all()
    # FRR is 0: no false reject is expected; each pair of a symmetric matrix is counted once.
    assert (one_group.frr_flagged == 1).all() and (one_group.far_flagged == 0).all()
    assert (one_group.expected_fa == 120 * 116 // 2).all()
    expected = [x for x in be.messages(one_group) if x.code == "few-expected-errors-in-groups"]
    assert [(x.arguments["rate"], x.arguments["groups"]) for x in expected] == [("frr", ["x"])]


def test_rates_that_groups_do_not_have_are_said():
    values = np.where(np.eye(3, dtype=bool), 0.0, 9.0)
    scores = be.Scores(values, [1, 2, 3], [1, 2, 4])
    ds = be.by_group(scores, (["a", "a", "b"], ["a", "a", "c"]), threshold=1.0)
    said = {
        x.arguments["what"]: (x.arguments["why"], x.arguments["groups"])
        for x in be.messages(ds)
        if x.code == "rates-of-groups-undefined"
    }
    assert said == {
        "{frr} is": ("groups without genuine attempts", ["b", "c"]),
        "{far} within groups is": ("groups without impostor attempts", ["b", "c"]),
    }
    undefined = be.by_group(be.Scores(values, [1, 2, 3], [4, 5, 6]), (["a"] * 3, ["b"] * 3))
    assert arguments(undefined, "rates-of-groups-undefined")["what"] == "rates are"


@pytest.mark.parametrize(
    ("group", "options", "message"),
    [
        ("race", {}, "'race', but .* no such column; both sides have: sex, height"),
        ("sx", {}, "Did you mean 'sex'"),
        (["a"] * 119, {}, "`group` has 119 values; expected 120"),
        ([math.nan] * 120, {}, "120 missing values"),
        ((["a"] * 119 + ["b"],) * 2, {}, "subject 30 is in the groups 'a', 'b'; .* None"),
        ((["a", "b"] * 60,) * 2, {}, r"1 is in the groups 'a', 'b' \(30 subjects have"),
        (7, {}, "`group` is int; expected a sequence"),
        ("sex", {"threshold": "err"}, "`threshold` is 'err'.*eer"),
        ("sex", {"threshold": math.nan}, "NaN"),
        ("sex", {"interval": "wilson"}, "`interval` is 'wilson'"),
        (["all", "b"] * 60, {}, "there is a group 'all'"),
    ],
)
def test_wrong_groups_and_options_are_named(scores, group, options, message):
    with pytest.raises(be.DataError, match=message):
        be.by_group(scores, group, **options)


PAIR = be.Scores.from_pairs([0.1], [True], subjects=[["a", "a"]])
UNNAMED = be.Scores.from_pairs([0.1, 0.2], [True, False])
ORDER = be.Scores([[1, 2], [2, 1]], ["a", "b"], ["a", "b"], kind="order")
WIDE = be.Scores(np.ones((2, 3)), ["a", "b"], ["a", "b", "c"])
MANY = be.Scores(np.ones((300, 300)), np.arange(300))


@pytest.mark.parametrize(
    ("scores", "group", "message"),
    [
        (PAIR, "sex", "list of pairs has no metadata"),
        (UNNAMED, (["a", "a"], ["a", "b"]), "subjects of both sides"),
        (ORDER, (["a", "b"], ["a", "b"]), "order"),
        (WIDE, ["x", "y", "z"], "pair of arrays: of the 2 probes and of the 3 gallery"),
        (MANY, np.arange(300), "at most 256"),
    ],
)
def test_scores_that_cannot_be_grouped_are_refused(scores, group, message):
    with pytest.raises((be.DataError, be.ProtocolError), match=message):
        be.by_group(scores, group)


@pytest.mark.slow
def test_groups_show_frr_with_intervals_and_far_of_pairs(scores):
    group = ["abc"[min(x % 4, 2)] for x in scores.probe_labels]
    grouped = be.by_group(scores, group, threshold=4.0, interval="people")
    display, grouped = be.plot.groups(grouped), without_totals(grouped)
    lines = [x for x in display.ax_.lines if x.get_marker() == "o"]
    drawn = {tuple(p) for line in lines for p in zip(*line.get_data(), strict=True)}
    assert drawn == {(x, i) for i, x in enumerate(grouped.frr.values)}
    hollow = next(x for x in lines if x.get_markerfacecolor() == "white")
    assert len(hollow.get_xdata()) == grouped.frr_flagged.sum()
    (image,) = display.figure_.axes[1].images
    np.testing.assert_array_equal(image.get_array() == image.norm.vmin / 2, grouped.far == 0)
    message = " ".join(x.get_text() for x in display.figure_.findobj(mpl.text.Text))
    assert "c (" in message and "hollow: few people" in message
    assert message.count("*") >= 1


GROUP = {"p0": "f", "p1": "f", "p2": "m", "p3": "m", "p4": "m"}
NAMES = [f"{who}-{i}" for who in GROUP for i in range(2)]
RNG = np.random.default_rng(4)
#: Trials: enrolled template, probe, similarity. Women are more often enrolled than men.
TRIALS = [
    (a, b, float(RNG.normal()))
    for a in NAMES
    for b in NAMES
    if a != b and (GROUP[a[:2]] == "f" or RNG.random() < 0.5)
]
THRESHOLD = 0.3


def require_expected(ds):
    attempts = [naive_groups.Attempt(b[:2], a[:2], x, a[:2] == b[:2]) for a, b, x in TRIALS]
    expected = naive_groups.by_group(attempts, GROUP, THRESHOLD, "similarity")
    assert_groups(ds, expected, GROUP)


def lines(head):
    """Return a file of scores and genuine marks, with columns of these names."""
    rows = [head]
    for enrolled, probe, score in TRIALS:
        sides = [probe, enrolled] if head.startswith("probe") else [enrolled, probe]
        rows.append(",".join([*sides, str(score), str(int(enrolled[:2] == probe[:2]))]))
    return "\n".join(rows) + "\n"


HEADS = [
    "enrol,test,similarity,target", "gallery,probe,similarity,target",
    "probe,gallery,similarity,target", "template_a,template_b,similarity,target",
    "modelid,segmentid,similarity,target",
]  # fmt: skip


@pytest.fixture
def table(tmp_path):
    rows = [f"{x[:2]},{x},{GROUP[x[:2]]}\n" for x in NAMES]
    (tmp_path / "t.csv").write_text("subject,template,gender\n" + "".join(rows))
    return tmp_path / "t.csv"


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("form", [None, "matrix"])
def test_groups_of_a_list_with_named_columns(tmp_path, table, head, form):
    (tmp_path / "x.csv").write_text(lines(head))
    scores = be.load(tmp_path / "x.csv", labels=table, lists={"as": form})
    require_expected(be.by_group(scores, "gender", threshold=THRESHOLD))


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".txt", ".parquet"])
def test_groups_of_a_list_of_voxceleb_and_of_what_is_saved(tmp_path, table, suffix):
    rows = [f"{int(a[:2] == b[:2])} {a} {b} {x}\n" for a, b, x in TRIALS]
    (tmp_path / "x.txt").write_text("".join(rows))
    scores = be.load(tmp_path / "x.txt", kind="similarity", labels=table, format="voxceleb")
    require_expected(be.by_group(scores, "gender", threshold=THRESHOLD))
    be.save(scores, tmp_path / f"y{suffix}")
    scores_read = be.load(tmp_path / f"y{suffix}")
    assert scores_read.pair_subjects.tolist() == scores.pair_subjects.tolist()
    genders = ([GROUP[b[:2]] for _, b, _ in TRIALS], [GROUP[a[:2]] for a, _, _ in TRIALS])
    require_expected(be.by_group(scores_read, genders, threshold=THRESHOLD))
    with pytest.raises(be.DataError, match="first array is of the probes, which are the second"):
        be.by_group(scores_read, genders[::-1], threshold=THRESHOLD)


def test_a_template_with_two_values_is_named(tmp_path, capsys):
    """A column with several values for a template is none of templates: the reason is said."""
    (tmp_path / "t.txt").write_text("".join(f"{a} {b} {x}\n" for a, b, x in TRIALS))
    table = tmp_path / "people.csv"
    rows = [f"{name},{name[:2]},{GROUP[name[:2]]},{name}.png\n" for name in NAMES]
    table.write_text("template,subject,sex,file\n" + "".join(rows) + "\np1-0,p1,m,again.png\n")
    scores = be.load(tmp_path / "t.txt", kind="similarity", labels=table, format="voxceleb")
    wrong = "this column has several values for one template in .*people.csv, as 'p1-0' is 'f' on "
    with pytest.raises(be.DataError, match=wrong + "line 4 and 'm' on line 13; give each template"):
        be.by_group(scores, "sex", threshold=THRESHOLD)
    args = ["groups", str(tmp_path / "t.txt"), "--kind", "similarity", "--labels", str(table)]
    args += ["--format", "voxceleb"]
    assert main([*args, "--by", "sex"]) == 2
    assert "--by is 'sex', and this column has several values" in capsys.readouterr().err
    table.write_text("template,subject,sex,file\n" + "".join(rows) + "p1-0,p1,f,again.png\n")
    scores_read = be.load(tmp_path / "t.txt", kind="similarity", labels=table, format="voxceleb")
    assert [*scores_read.probe_meta] == ["sex"]


def test_groups_in_several_spellings_are_said():
    scores = be.simulate(20, 4, random_state=1)
    sex = np.array([["f", "m"][int(who) % 2] for who in scores.probe_labels], dtype=object)
    be.by_group(scores, sex)  # without a warning
    sex[5] = sex[5].upper()  # of one template
    with pytest.warns(be.BioevalWarning, match="differ from another value only in case"):
        ds = be.by_group(scores, sex)
    assert arguments(ds, "values-look-alike")["values"] == 2


def test_answer_names_the_groups_of_enough_people_with_the_least_and_the_most_errors():
    """The remaining groups have too few people to be ranked."""
    people = np.repeat(np.arange(80), 3)
    names = np.array(["a", "b", "few"])[np.select([people < 35, people < 72], [0, 1], 2)]
    ds = be.by_group(be.simulate(80, 3, random_state=1), names)
    frr = ds.frr.sel(group=["a", "b"])
    answer = arguments(ds, "errors-of-groups")
    assert (answer["least"], answer["most"]) == (frr.min(), frr.max())
    assert answer["group_with_most"] == frr.idxmax("group")
    assert answer["threshold"] == ds.threshold
