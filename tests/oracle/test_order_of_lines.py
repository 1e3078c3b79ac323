"""The order of the lines of a list, and of the rows of a matrix with names, decides no number."""

import itertools

import numpy as np
import pytest
import xarray as xr
from naive_lists import natural

import bioeval as be
from bioeval import partition

FINGERS, IMPRESSIONS = (1, 2, 3, 7, 10, 11, 20, 100), (1, 2, 10)
NAMES = [f"{finger}_{number}" for finger in FINGERS for number in IMPRESSIONS]
READ = {"subject_from": r"^(\d+)_", "lists": {"as": "matrix"}}


def finger(name):
    return name.partition("_")[0]


def lines_of(seed=0):
    """Each pair of impressions once, its names in either order: 276 lines (a, b, distance)."""
    rng = np.random.default_rng(seed)
    lines = []
    for first, second in itertools.combinations(NAMES, 2):
        distance = rng.normal(1.0 if finger(first) == finger(second) else 2.0, 0.8)
        pair = (first, second) if rng.random() < 0.5 else (second, first)
        lines.append((*pair, round(float(distance), 4)))
    return lines


def read(tmp_path, lines, order=None, **options):
    path = tmp_path / "list.txt"
    chosen_lines = lines if order is None else [lines[i] for i in order]
    path.write_text(
        "template_a template_b distance\n" + "".join(f"{a} {b} {x!r}\n" for a, b, x in chosen_lines)
    )
    return be.load(path, **{**READ, **options})


def orders(number, seed=1, count=12):
    rng = np.random.default_rng(seed)
    return [rng.permutation(number) for _ in range(count)]


def of_fvc(lines):
    """The attempts of FVC: all pairs of one finger, and the first impressions of two."""
    firsts = {f: min((x for x in NAMES if finger(x) == f), key=natural) for f in map(finger, NAMES)}
    genuine = [x for a, b, x in lines if finger(a) == finger(b)]
    impostor = [x for a, b, x in lines if finger(a) != finger(b) and {a, b} <= {*firsts.values()}]
    return genuine, impostor


def fvc(scores):
    return be.evaluate(scores, "fvc2004")["verification/single"].to_dataset()


def said(results, code):
    return [x.arguments for x in be.messages(results) if x.code == code]


def test_fvc_has_one_result_for_a_list_in_any_order(tmp_path):
    lines = lines_of()
    assert len(lines) == 276
    genuine, impostor = of_fvc(lines)
    assert (len(genuine), len(impostor)) == (24, 28)
    expected = be.verification(
        be.Scores.from_pairs([*genuine, *impostor], np.repeat([1, 0], [24, 28]))
    )
    first = None
    for order in orders(276):
        ds = fvc(read(tmp_path, lines, order))
        assert (int(ds.genuine_attempts), int(ds.impostor_attempts)) == (24, 28)
        for name in ("eer", "auc", "zero_far", "eer_bracket_low", "eer_bracket_high"):
            assert float(ds[name]) == float(expected[name])
        (left_out,) = said(ds, "pairs-left-out")
        counts = {"comparisons": 276, "compared": 52, "orders": 0, "others": 224}
        assert {k: left_out[k] for k in counts} == counts
        assert not said(ds, "pairs-missing") and not said(ds, "first-by-order")
        first = ds if first is None else first
        xr.testing.assert_equal(ds, first)


def test_pairs_in_both_orders_are_one_comparison(tmp_path):
    """Of an asymmetric matcher, the comparison with the later impression as the probe counts."""
    lines = lines_of()
    reversed_lines = [(second, first, distance + 0.25) for first, second, distance in lines[::3]]
    later = {}
    for first, second, distance in [*lines, *reversed_lines]:  # template_b is the probe
        if natural(second) > natural(first) or (second, first) not in later:
            later[(second, first)] = distance
    counted = {}
    for (probe, enrolled), distance in later.items():
        pair = frozenset((probe, enrolled))
        if pair not in counted or natural(probe) > natural(enrolled):
            counted[pair] = (enrolled, probe, distance)
    genuine, impostor = of_fvc(counted.values())
    expected = be.verification(
        be.Scores.from_pairs([*genuine, *impostor], np.repeat([1, 0], [24, 28]))
    )
    for order in orders(276 + len(reversed_lines), count=5):
        ds = fvc(read(tmp_path, [*lines, *reversed_lines], order))
        assert float(ds.eer) == float(expected.eer) and float(ds.auc) == float(expected.auc)
        (left_out,) = said(ds, "pairs-left-out")
        assert (left_out["orders"], left_out["others"]) == (92, 224)


def test_what_the_list_lacks_of_the_protocol_is_counted(tmp_path):
    lines = [x for x in lines_of() if {*x[:2]} not in ({"7_1", "7_10"}, {"1_1", "2_1"})]
    ds = fvc(read(tmp_path, lines, orders(274)[0]))
    assert (int(ds.genuine_attempts), int(ds.impostor_attempts)) == (23, 27)
    (missing,) = said(ds, "pairs-missing")
    assert (missing["genuine"], missing["impostor"]) == (1, 1)


def matrix(order, **columns):
    """A matrix of all impressions, its rows in an order, with columns of their own."""
    index = np.asarray(order)
    values = np.random.default_rng(5).random((24, 24))
    subject = np.array([finger(x) for x in NAMES])
    meta = {name: np.asarray(column)[index] for name, column in columns.items()}
    return be.Scores(values[np.ix_(index, index)], subject[index], probe_meta=meta)


def test_a_column_decides_before_names_and_names_before_the_order():
    number = np.tile([3, 1, 2], 8)  # the second impression is the first one by the column
    values = np.random.default_rng(5).random((24, 24))

    def impostors(place):
        return sorted(
            values[max(a, b), min(a, b)] for a, b in itertools.combinations(range(place, 24, 3), 2)
        )

    for order in orders(24, count=4):
        ds = fvc(matrix(order, name=NAMES, impression=number))
        assert ds.impostor_attempts == 28 and not said(ds, "first-by-order")
        assert float(ds.zero_far) == zero_far(values, impostors(1), number)
        ds = fvc(matrix(order, name=NAMES))
        assert float(ds.zero_far) == zero_far(values, impostors(0), np.zeros(24))
    assert len(said(fvc(matrix(range(24))), "first-by-order")) == 1


def zero_far(values, impostors, number):
    """FRR at the loosest threshold below all impostors; the later impression is the probe."""
    genuine = []
    for low in range(0, 24, 3):
        for first, second in itertools.combinations(range(low, low + 3), 2):
            early, late = sorted((first, second), key=lambda i: (number[i], i))
            genuine.append(values[late, early])
    return sum(x >= min(impostors) for x in genuine) / len(genuine)


def test_every_result_of_a_list_as_a_matrix_is_that_of_its_lines_in_another_order(tmp_path):
    lines = lines_of()
    lines += [(b, a, x + 0.25) for a, b, x in lines]
    first = be.evaluate(read(tmp_path, lines))
    for order in orders(len(lines), count=3):
        xr.testing.assert_equal(be.evaluate(read(tmp_path, lines, order)), first)


def test_the_first_templates_are_enrolled_by_their_names(tmp_path):
    for order in orders(24, count=5):
        scores = matrix(order, name=NAMES)
        claims = be.claim_scores(scores, enrol="first:2")
        assert not [x for x in claims.remarks if x.code == "first-by-order"]
        assert {*claims.probe_meta["name"].tolist()} == {f"{f}_10" for f in FINGERS}
        by_day = matrix(order, name=NAMES, day=np.tile(["day10", "day9", "day2"], 8))
        claims = be.claim_scores(by_day, enrol="first:2:day")
        assert {*claims.probe_meta["name"].tolist()} == {f"{f}_1" for f in FINGERS}


SPLITTERS = [
    partition.ProbeGallerySplit(1, random_state=3),
    partition.ProbeGallerySplit(1, n_probe=1, random_state=3),
    partition.ProbeGallerySplit(1, quality="same"),
    partition.GalleryKFold(3),
    partition.GalleryKFold(3, shuffle=True, random_state=3),
    partition.SampleKFold(4, shuffle=True, random_state=3),
    partition.SampleKFold(4, shuffle=True, random_state=3, stratify="subject"),
    partition.SampleShuffleSplit(2, test_size=0.5, random_state=3),
    partition.Experiment(train=1, unit="sample", random_state=3),
    partition.Experiment(train=0.5, gallery_templates=1, unenrolled=1, random_state=3),
    partition.SubjectKFold(4, shuffle=True, random_state=3),
]


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda x: type(x).__name__)
def test_partitions_of_templates_with_names(splitter):
    partitions = set()
    for order in (range(24), *orders(24, count=4)):
        scores = matrix(order, name=NAMES, same=np.zeros(24))
        names = scores.probe_meta["name"]
        splits = splitter.split(scores)
        partitions.add(tuple(tuple(tuple(sorted(names[x])) for x in split) for split in splits))
    assert len(partitions) == 1


@pytest.mark.parametrize("trials", [False, True])
def test_a_pair_in_both_orders_has_one_enrolled_side(tmp_path, trials):
    """Of lists that are unordered, whichever line comes first."""
    lines = lines_of()[:60]
    lines += [(b, a, x) for a, b, x in lines[::2]]
    options = {"lists": {"unordered": True}}
    pairs = set()
    for order in orders(len(lines), count=6):
        if trials:
            chosen_lines = [lines[i] for i in order[::-1]]
            text = "".join(f"{a} {b} {int(finger(a) == finger(b))}\n" for a, b, _ in chosen_lines)
            (tmp_path / "trials.txt").write_text(text)
            options |= {"trials": tmp_path / "trials.txt", "subject_from": None, "format": "kaldi"}
        scores = read(tmp_path, lines, order, **options)
        sides = scores.pair_templates.tolist()
        pairs.add(tuple(sorted((a, b, x) for (a, b), x in zip(sides, scores.values, strict=True))))
    assert len(pairs) == 1
    assert len(pairs.pop()) == 60
