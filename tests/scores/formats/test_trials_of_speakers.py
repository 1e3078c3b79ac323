"""Lists of trials as speaker researchers have them: names in either order, tables of recordings."""

import random

import pytest

import bioeval as be

NAMES = [f"id{i // 3}/{i:02d}.wav" for i in range(12)]
PAIRS = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]


def same(a, b):
    return a.split("/")[0] == b.split("/")[0]


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def scores(tmp_path):
    return write(tmp_path / "a.scores", (f"{a} {b} {i / 8}" for i, (a, b) in enumerate(PAIRS)))


def turned(pairs, which):
    return [(b, a) if which(i) else (a, b) for i, (a, b) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("which", "unordered"),
    [(lambda i: False, False), (lambda i: True, False), (lambda i: True, True),
     (lambda i: i % 3 == 0, True), (lambda i: i % 2 == 0, True)],
)  # fmt: skip
@pytest.mark.parametrize("marks", ["kaldi", "voxceleb", "genuine"])
def test_each_score_has_the_class_of_its_names(tmp_path, scores, which, unordered, marks):
    pairs = turned(PAIRS, which)
    random.Random(1).shuffle(pairs)
    if marks == "kaldi":
        lines = [f"{a} {b} {'target' if same(a, b) else 'nontarget'}" for a, b in pairs]
    elif marks == "voxceleb":
        lines = [f"{int(same(a, b))} {a} {b}" for a, b in pairs]
    else:
        lines = [f"{a} {b}" for a, b in pairs if same(a, b)]
    trials = write(tmp_path / "trials", lines)
    read = be.load(scores, trials=trials, kind="similarity", lists={"unordered": unordered})
    assert read.genuine.tolist() == [same(a, b) for a, b in PAIRS]
    assert read.values.tolist() == [i / 8 for i in range(len(PAIRS))]
    # The first name of a trial is enrolled, whatever the order in the file of scores. Impostor
    # pairs that are not listed have the order of most of the others.
    order = {frozenset(pair): list(pair) for pair in pairs}
    if marks == "genuine":
        genuine = [(a, b) for a, b in pairs if same(a, b)]
        most = 2 * sum((a, b) not in PAIRS for a, b in genuine) > len(genuine)
        order |= {frozenset(x): [*x[:: -1 if most else 1]] for x in PAIRS if not same(*x)}
    assert read.pair_templates.tolist() == [order[frozenset(pair)] for pair in PAIRS]


@pytest.mark.parametrize(
    ("head", "enrolled"),
    [("", 0), ("enrol test target", 0), ("template_a template_b target", 0),
     ("gallery probe target", 0), ("probe gallery target", 1)],
)  # fmt: skip
@pytest.mark.parametrize("unordered", [False, True])
def test_the_trials_decide_who_is_enrolled(tmp_path, head, enrolled, unordered):
    """By the names of their columns, or the first: not by the scores, whose order is any."""
    lines = [f"{a} {b} {int(same(a, b))}" for a, b in PAIRS]
    trials = write(tmp_path / "trials", [head, *lines] if head else lines)
    expected = [[pair[enrolled], pair[1 - enrolled]] for pair in PAIRS]
    orders = [lambda i: False, lambda i: True]
    if unordered:
        orders += [lambda i: i % 3 == 0]
    for which in orders:
        path = write(
            tmp_path / "x.scores",
            (f"{a} {b} {i / 8}" for i, (a, b) in enumerate(turned(PAIRS, which))),
        )
        given = {"trials": trials, "kind": "similarity", "subject_from": r"(id\d+)/"}
        read = be.load(path, labels=None, lists={"unordered": unordered}, **given)
        assert read.pair_templates.tolist() == expected
        assert read.pair_subjects.tolist() == [[x.split("/")[0] for x in y] for y in expected]
        how = {"trials": trials, "kind": "similarity", "lists": {"unordered": unordered}}
        marked = be.load(path, labels=table(tmp_path, "subject,template,gender"), **how)
        of = {x: "fm"[i % 2] for i, x in enumerate(NAMES)}
        assert marked.gallery_meta["gender"].tolist() == [of[x] for x, _ in expected]
        assert marked.probe_meta["gender"].tolist() == [of[x] for _, x in expected]
        matrix = be.load(path, lists={"as": "matrix", "unordered": unordered}, **given)
        rows = matrix.probe_meta["template"].tolist()
        columns = matrix.gallery_meta["template"].tolist()
        for i, (one, other) in enumerate(expected):
            assert matrix.values[rows.index(other), columns.index(one)] == i / 8


@pytest.mark.parametrize("marked", [True, False])
def test_names_in_mixed_orders_are_looked_up_in_either(tmp_path, scores, marked):
    pairs = turned(PAIRS, lambda i: i % 2)
    lines = [f"{a} {b} {int(same(a, b))}" for a, b in pairs]
    if not marked:
        lines = [f"{a} {b}" for a, b in pairs if same(a, b)]
    trials = write(tmp_path / "trials", lines)
    read = be.load(scores, trials=trials, kind="similarity")
    assert read.genuine.tolist() == [same(a, b) for a, b in PAIRS]


def test_trials_that_are_missing_are_not_blamed_on_their_order(tmp_path, scores):
    trials = write(tmp_path / "trials", (f"{a} {b} {int(same(a, b))}" for a, b in PAIRS[5:]))
    for unordered in (False, True):
        with pytest.raises(be.DataError, match="5 of 66 lines: each has no trial"):
            be.load(scores, trials=trials, kind="similarity", lists={"unordered": unordered})


def test_both_orders_in_the_scores_are_one_trial(tmp_path):
    both = [*PAIRS, *((b, a) for a, b in PAIRS)]
    path = write(tmp_path / "a.scores", (f"{a} {b} {len(a + b) / 8}" for a, b in both))
    trials = write(tmp_path / "trials", (f"{a} {b} {int(same(a, b))}" for a, b in PAIRS))
    read = be.load(path, trials=trials, kind="similarity", lists={"unordered": True})
    assert len(read.values) == len(PAIRS)
    assert read.genuine.tolist() == [same(a, b) for a, b in PAIRS]


def table(tmp_path, head, name="speakers.csv", number=None):
    rows = [f"{x.split('/')[0]},{x},{'fm'[i % 2]}" for i, x in enumerate(NAMES)]
    return write(tmp_path / name, [head, *rows[:number]])


@pytest.mark.parametrize("given", [{"subject_from": r"(id\d+)/"}, {"labels": True}, {}])
def test_columns_enrol_and_test_may_name_recordings(tmp_path, given):
    lines = [f"{a},{b},{i / 8},{int(same(a, b))}" for i, (a, b) in enumerate(PAIRS)]
    path = write(tmp_path / "x.csv", ["enrol,test,similarity,target", *lines])
    if given.get("labels"):
        given = {"labels": table(tmp_path, "subject,template,gender")}
    read = be.load(path, **given)
    assert read.pair_templates.tolist() == [list(pair) for pair in PAIRS]
    if given:
        assert read.pair_subjects.tolist() == [[x.split("/")[0] for x in y] for y in PAIRS]
    people = write(tmp_path / "y.csv", ["enroll,test,similarity", "ann,ann,1", "ann,bob,2"])
    assert be.load(people).pair_subjects.tolist() == [["ann", "ann"], ["ann", "bob"]]


def test_a_failed_comparison_is_named_by_its_line(tmp_path):
    lines = [f"1 {a} {b} {'nan' if i in (4, 7) else i / 8}" for i, (a, b) in enumerate(PAIRS)]
    lines = [x.replace("1 ", f"{int(same(*y))} ", 1) for x, y in zip(lines, PAIRS, strict=True)]
    lines.insert(2, lines[0])  # listed again
    lines.insert(1, "")
    path = write(tmp_path / "x.txt", lines)
    read = be.load(path, kind="similarity")
    message = r"hold 2 NaN, the first on line 7 of x.txt; choose how"
    with pytest.raises(be.DataError, match=message):
        be.verification(read)
    with pytest.raises(be.DataError, match=message):
        be.verification(read.with_values(read.values * 2, "similarity"))
    with pytest.raises(be.DataError, match="hold 1 NaN, the first at position 0"):
        be.verification(read.select([7, 0, 12]))
    assert be.verification(be.load(path, kind="similarity", nan="exclude")).impostor_attempts
