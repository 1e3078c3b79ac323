"""Score normalisation of lists of trials, against a plain loop written from the papers."""

import itertools

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

ENROLLED, TESTS = ["e0", "e1", "e2", "both"], ["t0", "t1", "t2", "both"]
COHORT = [f"c{i}" for i in range(9)]
EVERYONE = [*dict.fromkeys([*ENROLLED, *TESTS])]


def mean_sd(values: list[float]) -> tuple[float, float]:
    """Return mean and standard deviation, divided by the number of values."""
    mean = sum(values) / len(values)
    return mean, (sum((x - mean) ** 2 for x in values) / len(values)) ** 0.5


def closest(scores: dict[str, float], top: int, kind: str) -> list[str]:
    """Return the closest names of the cohort; of equal scores the first name."""
    sign = -1 if kind == "similarity" else 1
    finite = [name for name in scores if np.isfinite(scores[name])]
    return sorted(finite, key=lambda name: sign * scores[name])[:top]


def by_loop(trials, cohort, method, kind, top=None):
    """Normalise trials (enrolled, test, score) by their definition.

    `cohort` are the scores of each template: a score for each name of the cohort. Z by the enrolled
    side and T by the other (Auckenthaler and others 2000); S is the mean of both (Kenny 2010); AS
    takes the closest of the cohort of each side (Matejka and others 2017).
    """
    normalised = []
    for enrolled, test, score in trials:
        parts = []
        for side in (enrolled, test):
            if (method, side) in (("z", test), ("t", enrolled)) and enrolled != test:
                continue
            names = [name for name, x in cohort[side].items() if np.isfinite(x)]
            if method == "as":
                names = closest(cohort[side], top, kind)
            mean, sd = mean_sd([cohort[side][name] for name in names])
            parts.append((score - mean) / sd)
        normalised.append(sum(parts) / len(parts))
    return normalised


def data(kind: str, seed: int = 0, holes: bool = True):
    """Return trials, the scores of all names against the cohort, and the Scores of the trials."""
    rng = np.random.default_rng(seed)
    trials = [(e, t, float(rng.normal())) for e, t in itertools.product(ENROLLED, TESTS) if e != t]
    rng.shuffle(trials)
    cohort = {
        name: dict(zip(COHORT, rng.normal(size=len(COHORT)).round(1).tolist(), strict=True))
        for name in EVERYONE
    }
    if holes:
        cohort["e1"]["c3"], cohort["t2"]["c0"] = np.inf, -np.inf
    names = [[a, b] for a, b, _ in trials]
    genuine = np.arange(len(trials)) % 2
    scores = be.Scores.from_pairs([x for *_, x in trials], genuine, kind=kind, pair_templates=names)
    return trials, cohort, scores


def listed(cohort, kind, turned=False):
    """Return cohort scores as a list of pairs."""
    lines = [(name, c, x) for name, row in cohort.items() for c, x in row.items()]
    names = [[c, a] if turned else [a, c] for a, c, _ in lines]
    values = [x for *_, x in lines]
    return be.Scores.from_pairs(values, np.zeros(len(lines)), kind=kind, pair_templates=names)


def matrix(cohort, kind, turned=False):
    """Return cohort scores as a matrix, whose labels name the templates or the people."""
    values = np.array([[*row.values()] for row in cohort.values()])
    people = [f"p{i // 2}" for i in range(len(COHORT))]
    names = {"template": np.array([*cohort])}
    if turned:
        return be.Scores(values.T, people, [*cohort], kind=kind, gallery_meta=names)
    return be.Scores(values, [*cohort], people, kind=kind, probe_meta=names)


CASES = [("z", {}), ("t", {}), ("s", {}), ("as", {"top": 3}), ("as", {"top": 7})]


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize(("method", "options"), CASES)
def test_normalised_lists_are_those_of_the_definition(kind, method, options):
    trials, cohort, scores = data(kind)
    expected = by_loop(trials, cohort, method, kind, **options)
    for form, turned in itertools.product((listed, matrix), (False, True)):
        normalised = be.normalise(scores, method, form(cohort, kind, turned), **options)
        assert normalised.kind == kind
        np.testing.assert_array_equal(normalised.pair_templates, scores.pair_templates)
        np.testing.assert_allclose(normalised.values, expected, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(normalised.genuine, scores.genuine)


def test_each_side_may_have_a_cohort_of_its_own():
    _, cohort, scores = data("distance")
    first, second = (listed({x: cohort[x] for x in side}, "distance") for side in (ENROLLED, TESTS))
    two_cohorts = be.normalise(scores, "s", first, probe_cohort=second)
    one_cohort = be.normalise(scores, "s", listed(cohort, "distance"))
    np.testing.assert_allclose(two_cohorts.values, one_cohort.values, rtol=0, atol=1e-12)
    with pytest.raises(be.DataError, match="second names .* has no value .* of 3 of 4"):
        be.normalise(scores, "s", first)


TRIALS, SCORES_OF_COHORT, SCORES = data("distance")
UNNAMED = be.Scores.from_pairs([1.0, 2.0], [0, 1])


def changed(**values):
    """A list of the cohort in which each template has these scores instead."""
    rows = {name: {**row, **values} for name, row in SCORES_OF_COHORT.items()}
    rows.pop("t0") if "t0" in values else None
    return listed(rows, "distance")


@pytest.mark.parametrize(
    ("scores", "method", "cohort", "says"),
    [
        (UNNAMED, "s", changed(), "do not name"),
        (SCORES, "zt", changed(), "ZT-norm"),
        (SCORES, "as", changed(), "top"),
        (SCORES, "s", None, "is missing"),
        (SCORES, "s", listed(SCORES_OF_COHORT, "similarity"), "similarities, and the trials are"),
        (SCORES, "s", changed(**dict.fromkeys(COHORT, 1.0)), "no spread"),
        (SCORES, "s", changed(t0=0.5), "shares 1 template"),
        (SCORES, "s", changed(c1=np.nan), "failed comparisons"),
    ],
)
def test_what_is_refused(scores, method, cohort, says):
    with pytest.raises((be.DataError, be.ProtocolError), match=says):
        be.normalise(scores, method, cohort)


def test_failed_comparisons_of_a_cohort_may_be_left_out():
    excluded = changed(c1=np.nan).replace(nan="exclude")
    assert np.isfinite(be.normalise(SCORES, "s", excluded).values).all()


def test_people_of_the_trials_are_no_cohort():
    names = SCORES.pair_templates.tolist()
    subject_of = {b: f"q{b[-1]}" for _, b in names} | {a: f"p{a[-1]}" for a, _ in names}
    sides = [[subject_of[a], subject_of[b]] for a, b in names]
    scores = be.Scores.from_pairs(
        SCORES.values, np.zeros(len(sides)), subjects=sides, pair_templates=names
    )
    with pytest.raises(be.DataError, match="shares 3 subjects"):
        be.normalise(scores, "s", matrix(SCORES_OF_COHORT, "distance"))


def run(*words):
    return main([*map(str, words)])


def write_cohort(path, rows):
    path.write_text("".join(f"{a} {b} {x}\n" for a, b, x in rows))
    return path


def test_people_of_the_trials_are_no_cohort_in_text_either(tmp_path, capsys):
    """A pattern of names or a table tells the people; the message is the same as for arrays."""
    lines = [("id1/a", "id2/a", 0.3), ("id1/a", "id1/b", 0.7)]
    write_cohort(tmp_path / "trials.txt", [(f"{i} {a}", b, x) for i, (a, b, x) in enumerate(lines)])
    rows = [(a, c, x + y / 9) for x, a in enumerate(("id1/a", "id1/b", "id2/a"))
            for y, c in enumerate(("id2/z", "id7/a", "other.wav"))]  # fmt: skip
    cohort = write_cohort(tmp_path / "cohort.txt", rows)
    table = tmp_path / "people.csv"
    names = ("id1/a", "id1/b", "id2/a", "id2/z", "id7/a")
    table.write_text("subject,template\n" + "".join(f"{x[:3]},{x}\n" for x in names))
    refusal = (
        "the cohort shares 1 subject with the trials, the first is 'id2'; expected other people"
    )
    for options in ({"subject_from": r"(id\d+)/"}, {"labels": table}):
        scores = be.load(tmp_path / "trials.txt", kind="similarity", format="voxceleb", **options)
        with pytest.raises(be.DataError, match=refusal):
            be.normalise(scores, "z", be.read_cohort(cohort, kind="similarity", **options))
        ((option, value),) = options.items()
        options = ["--cohort", cohort, f"--{option.replace('_', '-')}", value]
        options += ["--format", "voxceleb"]
        words = ["normalise", tmp_path / "trials.txt", "--kind", "similarity", "--method", "z"]
        assert run(*words, *options) == 2
        assert refusal in capsys.readouterr().err
    normalised = be.normalise(scores, "z", be.read_cohort(cohort, kind="similarity"))
    assert [x.code for x in normalised.remarks] == ["people-of-cohort-not-known"]
    table.write_text("gender,template\n" + "".join(f"f,{x}\n" for x in names))  # no subjects
    without_people = be.normalise(
        scores, "z", be.read_cohort(cohort, kind="similarity", labels=table)
    )
    assert [x.code for x in without_people.remarks] == ["people-of-cohort-not-known"]
    assert without_people.values.tolist() == normalised.values.tolist()
    with pytest.raises(be.DataError, match=r"matches none of its names, such as 'id1/a'"):
        be.read_cohort(cohort, kind="similarity", subject_from="(spk)")


def test_scores_of_a_cohort_that_contradict_each_other_or_are_missing(tmp_path):
    trials = be.Scores.from_pairs(
        [0.3, 0.7], [0, 1], kind="similarity", pair_templates=[["a", "b"], ["a", "d"]]
    )
    rows = [(x, c, i + j**2 / 8) for i, x in enumerate("abd") for j, c in enumerate(COHORT)]
    path = write_cohort(tmp_path / "c.txt", rows)
    normalised = be.normalise(trials, "s", be.read_cohort(path, kind="similarity"))
    write_cohort(path, [*rows, rows[4]])  # the same score again changes nothing
    of_file = be.normalise(trials, "s", be.read_cohort(path, kind="similarity"))
    assert of_file.values.tolist() == normalised.values.tolist()
    for pair in (("b", "c0"), ("c0", "b")):
        write_cohort(path, [*rows, (*pair, 9.5), rows[0]])
        with pytest.raises(
            be.DataError, match=r"1 pair is listed more .*lines 10 and 28: 1.0 and 9.5"
        ):
            be.read_cohort(path, kind="similarity")
    write_cohort(path, [row for row in rows if row[:2] != ("b", "c3")])
    message = (
        "lack 1 of the 18 pairs of the second names of the trials and the cohort, .*'b' and 'c3'"
    )
    with pytest.raises(be.DataError, match=message):
        be.normalise(trials, "s", be.read_cohort(path, kind="similarity"))
    left_out = be.normalise(trials, "s", be.read_cohort(path, kind="similarity", nan="exclude"))
    write_cohort(path, [(*x[:2], "nan" if x[:2] == ("b", "c3") else x[2]) for x in rows])
    failed = be.normalise(trials, "s", be.read_cohort(path, kind="similarity", nan="exclude"))
    assert left_out.values.tolist() == failed.values.tolist()
    with pytest.raises(be.DataError, match=r"1 failed comparison \(NaN\), the first on line 13;"):
        be.normalise(trials, "s", be.read_cohort(path, kind="similarity"))


def test_one_list_may_have_the_cohorts_of_both_sides(tmp_path):
    trials, cohort, scores = data("distance", holes=False)
    rows = [(a, c, x) for a in ENROLLED if a != "both" for c, x in cohort[a].items()]
    rows += [(b, f"{c}-t", x) for b in TESTS if b != "both" for c, x in cohort[b].items()]
    kept_trials = [i for i, (a, b, _) in enumerate(trials) if "both" not in (a, b)]
    read = be.read_cohort(write_cohort(tmp_path / "c.txt", rows), kind="distance")
    normalised = be.normalise(scores.select(kept_trials), "s", read)
    expected = by_loop([trials[i] for i in kept_trials], cohort, "s", "distance")
    np.testing.assert_allclose(normalised.values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("method", "unordered"), [("z", ()), ("t", ()), ("z", ("--lists", "unordered"))]
)
def test_the_trials_decide_who_is_enrolled(tmp_path, capsys, method, unordered):
    trials, cohort, scores = data("similarity", holes=False)
    names = [(b, a) if i % 2 or not unordered else (a, b) for i, (a, b, _) in enumerate(trials)]
    write_cohort(
        tmp_path / "scores", [(*pair, x) for pair, (*_, x) in zip(names, trials, strict=True)]
    )
    marks = zip(trials, scores.genuine, strict=True)
    (tmp_path / "trials").write_text("".join(f"{int(g)} {a} {b}\n" for (a, b, _), g in marks))
    rows = [(name, c, x) for name, row in cohort.items() for c, x in row.items()]
    end = run(
        "normalise", tmp_path / "scores", tmp_path / "trials", "--kind", "similarity", *unordered,
        "--format", "voxceleb",
        "--cohort", write_cohort(tmp_path / "cohort", rows), "--method", method,
        "--save", tmp_path / "made.txt",
    )  # fmt: skip
    assert end == 0, capsys.readouterr().err
    normalised = be.load(tmp_path / "made.txt")
    assert normalised.pair_templates.tolist() == [[a, b] for a, b, _ in trials]
    expected = by_loop(trials, cohort, method, "similarity")
    np.testing.assert_allclose(normalised.values, expected, atol=1e-12)
    words = ["normalise", tmp_path / "scores", "--kind", "similarity", "--cohort", "c"]
    assert run(*words, "--top", 4, "--method", "s") == 2
    assert "--method as" in capsys.readouterr().err


def test_a_file_that_is_no_cohort(tmp_path):
    embeddings = np.random.default_rng(3).normal(size=(len(COHORT), 5))
    np.savez(tmp_path / "c.npz", embeddings=embeddings, labels=COHORT, metric="cosine")
    with pytest.raises(be.DataError, match="holds embeddings"):
        be.read_cohort(tmp_path / "c.npz")
    (tmp_path / "cohort").write_text("e0 c0\n")
    with pytest.raises(be.DataError, match="expected the cohort's scores"):
        be.read_cohort(tmp_path / "cohort", kind="distance")


def test_more_closest_scores_than_the_cohort_has_are_refused():
    trials, cohort, scores = data("similarity", holes=False)
    of_matrix = matrix(cohort, "similarity")
    with pytest.raises(be.DataError, match="`top=10` is more than there are in the cohort of"):
        be.normalise(scores, "as", of_matrix, top=10)
    assert len(be.normalise(scores, "as", of_matrix, top=9).values) == len(trials)


@pytest.mark.parametrize("method", ["z", "t", "s"])
def test_lines_of_a_cohort_have_their_names_in_either_order(tmp_path, method):
    """The recording of the trials first or second, line by line, and both orders of one pair."""
    trials, cohort, scores = data("distance", holes=False)
    rows = [(name, c, x) for name, of_name in cohort.items() for c, x in of_name.items()]
    turned = [row if i % 3 else (row[1], row[0], row[2]) for i, row in enumerate(rows)]
    turned += [(b, a, x) for a, b, x in turned[::5]]
    np.random.default_rng(1).shuffle(turned)
    read = be.read_cohort(write_cohort(tmp_path / "c.txt", turned), kind="distance")
    normalised = be.normalise(scores, method, read)
    expected = by_loop(trials, cohort, method, "distance")
    np.testing.assert_allclose(normalised.values, expected, rtol=0, atol=1e-12)
