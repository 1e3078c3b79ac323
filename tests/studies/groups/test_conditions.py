"""Groups of attempts, such as by day and by night, beside plain loops."""

import itertools

import naive
import naive_groups
import naive_limits
import numpy as np
import pytest
import strategies as cases
from hypothesis import given, settings, strategies as st
from naive_groups import without_totals
from reference import floats, one_thread  # noqa: F401
from result_messages import arguments, codes

import bioeval as be

PEOPLE = {"interval": "people"}
RATES = {"frr": ("fr", "genuine_attempts"), "far": ("fa", "impostor_attempts")}


def worse_by_night(people=36, seed=1, by=0.9):
    """Return scores of people with two images by day and two by night, and their light."""
    scores = be.simulate(people, 4, random_state=seed)
    light = np.array(["day", "day", "night", "night"] * people)
    labels, values = scores.probe_labels, scores.values.copy()
    values[(labels[:, None] == labels) & (light == "night")[:, None]] += by
    meta = {"light": light, "sex": np.where(labels.astype(int) % 2, "f", "m")}
    return be.Scores(values, labels, probe_meta=meta), light


def attempts_of(scores, light):
    """Return each attempt of a matrix: the group of its probe, both people, distance, genuine."""
    labels, itself = scores.probe_labels.tolist(), scores.gallery_ids.tolist()
    for i, j in np.ndindex(*scores.shape):
        if scores.probe_ids[i] != itself[j]:
            claimed = scores.gallery_labels.tolist()[j]
            yield str(light[i]), labels[i], claimed, scores.values[i, j], labels[i] == claimed


def rate_without(made, group, genuine, threshold, person=None):
    """Return the errors and the attempts of a group, without a person on either side."""
    own = [
        (d > threshold) == genuine
        for g, a, b, d, mated in made
        if g == group and mated == genuine and person not in (a, b)
    ]
    return sum(own), len(own)


@settings(max_examples=8)
@given(data=st.data())
def test_rates_by_the_group_of_the_probe_are_those_of_their_definition(data):
    """The order of rows changes nothing; the groups are groups of probes."""
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    data_of = naive.read(**case.naive())
    labels = naive.as_list(case.probe_labels)
    light = [data.draw(st.sampled_from("abc")) for _ in labels]
    scores = be.Scores(**case.scores())
    threshold = float(data.draw(st.sampled_from([0.2, 1.0, 3.0])))
    result = be.by_group(scores, (light, None), threshold=threshold)
    ds = without_totals(result)
    attempts_by_group = {x: [] for x in sorted(set(light))}
    for i, group_name in enumerate(light):
        for candidate in naive.candidates(data_of, i, "template", "best"):
            is_accepted = naive.accepted(data_of.user(candidate.distance), threshold, case.kind)
            attempts_by_group[group_name].append((candidate.mate, is_accepted))
    assert ds.group.values.tolist() == list(attempts_by_group) and "claimed_group" not in ds.dims
    for k, own in enumerate(attempts_by_group.values()):
        genuine, impostor = (
            [is_accepted for mate, is_accepted in own if mate is x] for x in (True, False)
        )
        assert ds.genuine_attempts[k] == len(genuine) and ds.impostor_attempts[k] == len(impostor)
        assert ds.fr[k] == len(genuine) - sum(genuine) and ds.fa[k] == sum(impostor)
    for rate, (errors, attempts) in RATES.items():
        expected = [
            naive.rate(*x) for x in zip(ds[errors].values, ds[attempts].values, strict=True)
        ]
        np.testing.assert_array_equal(ds[rate], floats(expected))
        for name in (errors, attempts):
            assert result[name].sel(group="all") == ds[name].sum()
    order = data.draw(st.permutations(range(len(labels))))
    gallery = order if case.gallery_labels is None else range(scores.shape[1])
    moved = be.by_group(
        scores.select(probes=np.array(order), gallery=np.array(gallery)),
        ([light[i] for i in order], None),
        threshold=threshold,
    )
    for name in (*itertools.chain(*RATES.values()), "subjects"):
        np.testing.assert_array_equal(result[name], moved[name])


@pytest.mark.parametrize("form", ["matrix", "pairs", "embeddings"])
def test_a_column_of_people_gives_the_same_rates_of_probes(form):
    scores = be.simulate(20, 3, random_state=3)
    if form == "embeddings":
        scores = be.simulate_embeddings(20, 3, random_state=3).scores("l2")
    sex = np.where(np.asarray(scores.probe_labels, int) % 3, "f", "m")
    sides = sex, sex
    if form == "pairs":
        i, j = np.nonzero(~np.eye(60, dtype=bool))
        scores, sides = scores.at_pairs(i, j), (sex[i], sex[j])
    people = be.by_group(scores, sides)
    probes = be.by_group(scores, (sides[0], None))
    for name in ("frr", "fr", "genuine_attempts", "subjects", "threshold"):
        np.testing.assert_array_equal(people[name], probes[name])
    for name in ("far", "fa", "impostor_attempts"):
        np.testing.assert_array_equal(people[name].sel(claimed_group="all"), probes[name])


def test_subjects_of_a_group_have_a_probe_in_it():
    scores, light = worse_by_night(6)
    by_two_groups = be.by_group(scores, (np.where(light == "day", "x", "y"), None))
    assert by_two_groups.subjects.values.tolist() == [6, 6, 6]
    group_of_probe = np.where(np.arange(24) == 3, "x", "y")  # one probe of the first subject
    ds = be.by_group(scores, group_of_probe, threshold=3.0)
    assert ds.subjects.values.tolist() == [1, 6, 6]
    about = {"several": 1, "of": 6, "subject": 1, "groups": ["x", "y"]}
    assert arguments(ds, "groups-of-attempts") == about
    half = np.isin(np.arange(24), [3, 7, 11])  # of half of the subjects
    assert "groups-of-attempts" not in codes(be.by_group(scores, np.where(half, "x", "y")))
    by_light = be.by_group(scores, "light", threshold=3.0)
    assert "groups-of-attempts" not in codes(by_light)


@pytest.fixture(scope="module")
def compared():
    scores, light = worse_by_night()
    return scores, light, be.by_group(scores, "light", threshold=4.0, **PEOPLE)


def test_few_subjects_have_no_limits_of_a_difference_and_limits_end_at_1():
    """Ten people have images at dusk; by night nobody is accepted, and by day nearly everybody."""
    scores, light = worse_by_night(by=3.0)
    place = np.arange(len(light))
    ds = be.by_group(
        scores,
        (np.where((place % 4 == 1) & (place < 40), "dusk", light), None),
        threshold=4.5,
        **PEOPLE,
    )
    assert ds.few_subjects.sel(group=["day", "dusk", "night"]).values.tolist() == [0, 1, 0]
    for name in ("low", "high"):
        limits = ds[f"frr_difference_{name}"]
        assert np.isnan(limits.sel(group="dusk")).all()
        assert np.isnan(limits.sel(other_group="dusk")).all()
    by_night = {"group": "night", "other_group": "day"}
    assert ds.frr_difference_high.sel(by_night) == 1 > ds.frr_difference.sel(by_night)
    assert ds.frr_difference_low.sel(group="day", other_group="night") == -1


@pytest.mark.parametrize("rate", ["frr", "far"])
def test_differences_are_paired_over_people(compared, rate):
    """Student's test of the jackknife over people; a person leaves both groups at once."""
    scores, light, ds = compared
    attempts, genuine = list(attempts_of(scores, light)), rate == "frr"
    people = sorted(set(scores.probe_labels.tolist()))

    def difference(person=None):
        terms = [rate_without(attempts, g, genuine, 4.0, person) for g in ("night", "day")]
        return terms[0][0] / terms[0][1] - terms[1][0] / terms[1][1]

    value = difference()
    low, high, p = naive_limits.plain([value, *map(difference, people)])
    pair = {"group": "night", "other_group": "day"}
    values = [ds[f"{rate}_{x}"].sel(pair).item() for x in
             ("difference", "difference_low", "difference_high", "p_value")]  # fmt: skip
    np.testing.assert_allclose(values, [value, low, high, p], rtol=1e-9)
    assert ds[f"{rate}_separated"].sel(pair) == (p <= 0.05) * np.sign(value)
    assert ds[f"{rate}_difference"].sel(group="day", other_group="night") == -values[0]
    letters = set(without_totals(ds)[f"{rate}_letters"].values.tolist())
    assert len(letters) == 1 + (p <= 0.05)


@pytest.mark.parametrize("rate", ["frr", "far"])
def test_limits_are_those_of_a_rate_by_leaving_out_each_person(compared, rate):
    scores, light, ds = compared
    genuine = rate == "frr"
    for group_name in ("day", "night"):
        errors = [
            ((d > 4.0) == genuine, (a,) if genuine else (a, b))
            for h, a, b, d, mated in attempts_of(scores, light)
            if h == group_name and mated == genuine
        ]
        expected = naive_groups.left_out_limits(errors, 36 if genuine else 18)
        limits = [ds[f"{rate}_{end}"].sel(group=group_name) for end in ("low", "high")]
        np.testing.assert_allclose(limits, expected, rtol=1e-9)


def test_a_column_of_probes_alone_and_unknown_values():
    labels = [1, 1, 2, 2, 3]
    values = np.where(np.array(labels)[:, None] == [1, 2, 3], 0.0, 9.0)
    light = np.array(["day", "night", "day", "", None], dtype=object)
    scores = be.Scores(values, labels, [1, 2, 3], probe_meta={"light": light})
    none = be.Scores(values, labels, [1, 2, 3], probe_meta={"light": light},
                     gallery_meta={"light": [None] * 3})  # fmt: skip
    of_none = be.by_group(none, "light", threshold=5.0)
    assert of_none.genuine_attempts.values.tolist() == [2, 1, 3]
    for column in ("light", ("light", None), (light, None)):
        ds = be.by_group(scores, column, threshold=5.0)
        assert ds.genuine_attempts.values.tolist() == [2, 1, 3]
        assert ds.impostor_attempts.values.tolist() == [4, 2, 6]  # of the whole gallery
        assert arguments(ds, "unknown-values")["probes"] == 2
    with pytest.raises(be.DataError, match="`group` has 4 values; expected 5"):
        be.by_group(scores, (light[:4], None))
    with pytest.raises(be.DataError, match="'lihgt'.* probes have: light.* 'light'"):
        be.by_group(scores, ("lihgt", None))


def test_a_column_of_a_list_is_the_attempts_own(tmp_path):
    """Each line has its light, whatever light its templates have in other lines."""
    rows = [
        ("a1", "a2", "a", "a", 0.9, 1, "day"), ("a1", "a2", "a", "a", 0.4, 1, "night"),
        ("b1", "a2", "b", "a", 0.2, 0, "night"), ("a1", "b2", "a", "b", 0.1, 0, "day"),
        ("b1", "b2", "b", "b", 0.2, 1, "day"), ("b1", "b2", "b", "b", 0.3, 1, "day"),
    ]  # fmt: skip
    head = "template_a,template_b,subject_a,subject_b,distance,genuine,light\n"
    path = tmp_path / "log.csv"
    path.write_text(head + "".join(",".join(map(str, row)) + "\n" for row in rows))
    read = {"lists": {"keep": "repeated"}}
    with pytest.raises(be.DataError, match="name a column of the list by `columns`"):
        be.by_group(be.load(path, **read), "light")
    ds = be.by_group(be.load(path, columns={"light": "light"}, **read), "light", threshold=0.25)
    assert ds.group.values.tolist() == ["day", "night", "all"]
    assert ds.fr.values.tolist() == [2, 1, 3] and ds.genuine_attempts.values.tolist() == [3, 1, 4]
    assert ds.fa.values.tolist() == [1, 1, 2] and ds.impostor_attempts.values.tolist() == [1, 1, 2]


def test_claims_are_grouped_by_their_visit():
    labels = np.repeat(np.arange(8), 4)
    visit, light = np.tile([0, 0, 1, 1], 8), np.tile(["day", "day", "night", "night"], 8)
    rng = np.random.default_rng(1)
    values = rng.random((32, 8)) + (labels[:, None] != np.arange(8))
    scores = be.Scores(values, labels, np.arange(8), probe_meta={"visit": visit, "light": light})
    ds = be.by_group(be.claim_scores(scores, attempts="visit"), "light", threshold=0.5)
    best = values.reshape(16, 2, 8).min(axis=1)
    own = best[np.arange(16), labels[::2]]
    assert ds.genuine_attempts.values.tolist() == [8, 8, 16]
    for group_name, first in (("day", 0), ("night", 1)):
        assert ds.fr.sel(group=group_name) == (own[first::2] > 0.5).sum()


def test_the_plot_has_the_far_of_each_group(compared):
    _, _, ds = compared
    display = be.plot.groups(ds)
    drawn = [x.get_xdata() for x in display.figure_.axes[1].lines if x.get_marker() == "o"]
    assert sorted(np.concatenate(drawn)) == sorted(without_totals(ds).far.values)
