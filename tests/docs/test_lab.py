"""The checks of the labs: right answers pass, at any time; others stop with a sentence."""

import functools
import json
import re
from typing import Any

import matplotlib.pyplot as plt
import pytest
from labs import COURSE, filled, solutions

Names = dict[str, Any]


def codes(notebook: Names) -> list[str]:
    """The cells of code of a notebook."""
    return ["".join(x["source"]) for x in notebook["cells"] if x["cell_type"] == "code"]


def unsolved(lab: str) -> Names:
    return json.loads((COURSE / f"{lab}.ipynb").read_text(encoding="utf-8"))


def check_of(source: str) -> str | None:
    """The name of the check that a cell defines and runs."""
    definition = re.match(r"def (check_\w+)\(\):", source)
    return definition[1] if definition else None


LABS = ("lab-1", "lab-2")

#: The lab and the source of each check.
CHECKS = {
    check: (lab, source)
    for lab in LABS
    for source in codes(unsolved(lab))
    if (check := check_of(source))
}


@functools.cache
def solved(lab: str) -> Names:
    """The names that a solved lab leaves behind."""
    names: Names = {}
    for source in codes(filled(lab)):
        exec(source, names)
    plt.close("all")
    return names


def run(check: str, answer: str = "") -> Names:
    """Run a check after the whole solution, with some answers replaced; return all names."""
    lab, source = CHECKS[check]
    names = dict(solved(lab))
    exec(answer, names)
    try:
        exec(source, names)
    finally:
        plt.close("all")
    return names


COUNT = """
def count(distances, person, t):
    counts = {{"GA": 0, "FR": 0, "FA": 0, "GR": 0}}
    for i in range(len(person)):
        for j in range({first}, len(person)):
            if {left_out}:
                continue
            accepted = distances[i, j] {within} {t}
            genuine = person[i] == person[j]
            counts[("GA" if accepted else "FR") if genuine else ("FA" if accepted else "GR")] += 1
    return counts
"""
_USUAL = {"first": 0, "left_out": "i == j", "within": "<=", "t": "t"}


def counting(**changes: Any) -> str:
    return COUNT.format(**{**_USUAL, **changes})


RATES = """
def rates(counts):
    far = {far}
    frr = {frr}
    return {returned}
"""
_FAR, _FRR = (
    'counts["FA"] / (counts["FA"] + counts["GR"])',
    'counts["FR"] / (counts["GA"] + counts["FR"])',
)


def rating(far: str = _FAR, frr: str = _FRR, returned: str = "far, frr") -> str:
    return RATES.format(far=far, frr=frr, returned=returned)


def claiming(what: str) -> str:
    return f"""
def score(i, name):
    return distances[i, person == name].{what}
claims = np.array([[score(i, name) for name in people] for i in range(200)])
"""


def searching(*rates: float) -> str:
    names = ("DIR(4, 1)", "DIR(4, 2)", "DIR(3, 2)", "FAR(2)", "FAR(3)")
    return f"by_hand = {dict(zip(names, rates, strict=True))}"


#: Wrong answers that a student may well give, by check; some with the cause that is named.
WRONG: dict[str, list[str | tuple[str, str]]] = {
    "check_by_hand": [
        'by_hand = {"GA": 2, "FR": 2, "FA": 1, "GR": 7}',  # < and not <=
        'by_hand = {"GA": 2, "FR": 2, "FA": 2}',
        ('by_hand = {"GA": 2, "FR": 2, "FA": 0, "GR": 8}', "exactly 4"),
        ('by_hand = {"GA": 2, "FR": 2, "FA": 6, "GR": 2}', "the table above"),
    ],
    "check_count": [
        (counting(within="<"), "equal to t"),
        counting(left_out="False"),
        counting(t="4"),
        'def count(distances, person, t): print({"GA": 2, "FR": 2, "FA": 2, "GR": 6})',
    ],
    "check_rates": [
        rating(returned="frr, far"),
        (rating(far='counts["FA"] / sum(counts.values())'), "divided by all attempts"),
        rating(far=f"100 * {_FAR}", frr=f"100 * {_FRR}"),
        rating(returned="None"),
    ],
    "check_of_all": [
        'of_all = count(distances, person, 5)["FR"] / 1800',
        'of_all = 100 * count(distances, person, 5)["FR"] / 39800',
        'of_all = count(distances, person, 5)["FR"]',
    ],
    "check_curves": [
        "impostor = distances[off][:38000]",
        ("far = 1 - far", "attempts that are rejected"),
        "far = np.array([(impostor < t).mean() for t in thresholds])",
        "frr = np.array([(genuine > t) for t in thresholds])",
    ],
    "check_eer": [
        "nearest = np.argmin(far + frr)",
        "nearest = -500",
        "eer = far[nearest] + frr[nearest]",
    ],
    "check_claims": [
        claiming("min()"),
        claiming("mean()"),
        (claiming("mean()").replace("name].", "name][off[i, person == name]]."), "mean"),
        "claims = claims.copy(); claims[3, 4] = np.inf",
        "frr_of_claims = (claims[true] <= 5).mean()",
    ],
    "check_ranks": [
        "ranks = ranks - 1",
        ("ranks = np.ones(200, dtype=int)", "own mate"),
        ("ranks = 1 + (claims < claims[true][:, None]).sum(axis=1)", "among people"),
        "ranks = np.array([1 + (d[~own] < d[own].max()).sum() for d, own in zip(distances, same)])",
        "cms = 100 * cms",
    ],
    "check_threshold": [
        "threshold = candidates[fars > 0.01].min()",
        "threshold = threshold + 1e-3",
        "far_b = (impostor_a <= threshold).mean()",
        "frr_b = (genuine_b <= threshold).mean()",
    ],
    "check_searches": [
        searching(1 / 3, 2 / 3, 1 / 3, 0, 1 / 3),  # over all probes
        (searching(1, 1, 1 / 2, 0, 1), "the rank is not used"),
        (searching(1 / 2, 1, 1 / 2, 0, 1 / 3), "all three probes"),
        searching(1 / 2, 1, 1 / 2, 0, 0),  # < and not <=
    ],
    "check_arrays": [
        'mate = distances.min("template")',
        "mate = mate.values",
        'closer = (distances < mate).groupby("person").sum()',
        ("closer = nearest <= mate", "counts a person once"),
    ],
    "check_partitions": [
        "rank = rank - 1",
        'rank = 1 + (closer * enrolled).sum("person")',
        'best = nearest.where(~enrolled).min("person")',
        ('best = (nearest * enrolled).min("person")', "best has zeros"),
    ],
    "check_open_set": [
        'DIR = (identified & (mate < thresholds)).sum("probe") / genuine.sum("probe")',
        'FAR = (accepted & (best < thresholds)).sum("probe") / (~genuine).sum("probe")',
        'DIR = identified.sum("probe") / (~genuine).sum("probe")',
        'FAR = (genuine & (best <= thresholds)).sum("probe") / genuine.sum("probe")',
    ],
    "check_band": [
        'mean_dir = DIR.mean(("partition", "rank"))',
        'mean_dir = DIR.sel(rank=1).mean("threshold")',
        'band = DIR.sel(rank=1).quantile([0.25, 0.75], "partition")',
    ],
    "check_dir_at_far": [
        'dir_at_far = DIR.sel(rank=1).where(FAR <= 0.1).min("threshold")',
        'dir_at_far = DIR.sel(rank=5).where(FAR <= 0.1).max("threshold")',
        "dir_at_far = DIR.sel(rank=1, threshold=5)",
    ],
    "check_pooled": [
        "mean_far, pooled_far = pooled_far, mean_far",
        "mean_far = FAR.mean()",
        "pooled_far = (~genuine & (best <= 5)).mean()",
    ],
}

#: Single numbers that are filled in.
SINGLE = {
    "lab-1": "of_all eer far_of_claims frr_of_claims threshold far_b frr_b",
    "lab-2": "mean_far pooled_far",
}


def test_every_check_is_tested():
    assert len(CHECKS) == 16 and WRONG.keys() == CHECKS.keys()
    assert all(len(answers) >= 3 for answers in WRONG.values())


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_right_answers_pass_after_all_later_cells_and_no_name_changes(check, capsys):
    before = solved(CHECKS[check][0])
    capsys.readouterr()
    names = run(check)
    assert capsys.readouterr().out.startswith("ok")
    changed = {x for x in names if x not in before or names[x] is not before[x]}
    assert changed <= {check, "__builtins__"}


OTHER_RIGHT = [
    ("check_count", counting().replace("distances[i, j] ", "distances[j, i] ")),
    ("check_by_hand", 'by_hand = {"GA": 2.0, "FR": np.int64(2), "FA": 2, "GR": 6}'),
    ("check_rates", rating(frr='1 - counts["GA"] / (counts["GA"] + counts["FR"])')),
    ("check_curves", "impostor = distances[~same & off][::-1]"),
    (
        "check_curves",
        "far = np.array([np.count_nonzero(impostor <= t) / 38000 for t in thresholds])",
    ),
    ("check_eer", "nearest = int(nearest)"),
    ("check_claims", "claims = claims + 0.0"),
    ("check_ranks", "ranks = ranks.astype(float)"),
    ("check_searches", searching(0.5, 1.0, 0.5, 0.0, 1.0)),
    ("check_arrays", 'mate = distances.where(same, np.inf).min("template")'),
    ("check_open_set", 'DIR = identified.where(genuine).mean("probe")'),
    ("check_band", 'mean_dir = DIR.mean("partition").sel(rank=1)'),
    ("check_pooled", "mean_far = float(mean_far)"),
    (
        "check_threshold",
        "threshold = max(t for t in candidates if (impostor_a <= t).mean() <= 0.01)",
    ),
]


@pytest.mark.parametrize(("check", "answer"), OTHER_RIGHT)
@pytest.mark.slow
def test_answers_that_are_right_in_another_way_pass(check, answer):
    run(check, answer)


@pytest.mark.parametrize("halves", ["people[1::2], people[::2]", "people[:10], people[10:]"])
@pytest.mark.slow
def test_the_last_part_can_be_repeated_with_other_halves(halves):
    (last,) = (x for x in codes(filled("lab-1")) if "chosen_on, used_on = people[10:]" in x)
    run("check_threshold", last.replace("people[10:], people[:10]", halves))


@pytest.mark.slow
def test_the_galleries_of_the_second_lab_can_be_smaller(capsys):
    names: Names = {}
    for source in codes(filled("lab-2")):
        exec(source.replace("size = 10", "size = 5"), names)
    plt.close("all")
    assert capsys.readouterr().out.count("ok") == 7 and names["size"] == 5


@pytest.mark.parametrize(
    ("check", "answer"), [(check, answer) for check in WRONG for answer in WRONG[check]]
)
@pytest.mark.slow
def test_wrong_answers_stop_with_a_sentence_that_does_not_give_the_answer(check, answer):
    answer, cause = (answer, "") if isinstance(answer, str) else answer
    with pytest.raises(AssertionError) as caught:
        run(check, answer)
    sentence = str(caught.value)
    assert len(sentence.split()) >= 4 and len(sentence) < 200 and cause in sentence, sentence
    lab, _ = CHECKS[check]
    names = solved(lab)
    right = [float(names[name]) for name in SINGLE[lab].split()]
    if lab == "lab-1":
        right += names["rates"](names["count"](names["distances"], names["person"], 5))
    for value in right:
        for written_value in (f"{value:.4f}", f"{100 * value:.2f} %"):
            assert written_value not in sentence or written_value in answer, sentence
    if lab == "lab-1":
        assert str(names["nearest"]) not in sentence or "index" in sentence


GAPS = [(lab, number) for lab in LABS for number in range(len(solutions(lab)))]


@pytest.mark.slow
@pytest.mark.parametrize(("lab", "number"), GAPS)
def test_each_gap_that_is_left_stops_at_its_check(lab, number):
    begun, complete = codes(filled(lab, number)), codes(filled(lab))
    gap = next(k for k, source in enumerate(begun) if source != complete[k])
    names: Names = {}
    for source in begun[: gap + 1]:
        exec(source, names)
    with pytest.raises(AssertionError, match="dots"):
        exec(begun[gap + 1], names)
    plt.close("all")
