"""Every number in the sentences of a page is in the results, with the counts of its threshold."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import xarray as xr
from report_text import Answer, Elements

import bioeval as be
from bioeval.document.cells import threshold_to_install
from bioeval.views.writers.lines import Lines

TARGET = 0.01

#: The threshold of a row of a table.
USED = r'data-variable="threshold"[^>]* data-live=""[^>]*>([^<]+)<'


def matrix(seed: int, people: int = 30, kind: str = "distance", step: float = 0.0) -> be.Scores:
    """Simulated scores of three templates each; in steps where many are to be equal."""
    simulated = be.simulate(people, 3, random_state=seed)
    values = np.asarray(simulated.values)
    values = np.round(values / step) * step if step else values
    values = values if kind == "distance" else np.exp(-values / 5)
    return be.Scores(values, simulated.probe_labels, kind=kind)


def listed(scores: be.Scores) -> tuple[np.ndarray, np.ndarray]:
    """The genuine and the impostor scores, which a smaller number accepts first."""
    sign = 1.0 if scores.kind == "distance" else -1.0
    if scores.layout == "pairs":
        values, genuine = sign * np.asarray(scores.values), np.asarray(scores.genuine)
        return values[genuine], values[~genuine]
    same = scores.probe_labels[:, None] == scores.probe_labels
    values, apart = sign * np.asarray(scores.values), ~np.eye(len(same), dtype=bool)
    return values[same & apart], values[~same]


def loosest(scores: be.Scores, target: float) -> float:
    """The loosest threshold with FAR at most the target: the largest such score, by definition."""
    genuine, impostor = listed(scores)
    points = np.unique(np.concatenate([genuine, impostor]))
    within = [t for t in points.tolist() if (impostor <= t).mean() <= target]
    return max(within) * (1.0 if scores.kind == "distance" else -1.0)


def written_as(number: dict[str, str]) -> str:
    """The text of a number that a page gives in per cent."""
    decimals = len(number["text"].split()[0].partition(".")[2])
    text = f"{100 * float(number['value']):.{decimals}f}"
    return f"{text} %" if "%" in number["text"] else text


def written_threshold(value: float, kind: str) -> str:
    """A threshold as a page writes it."""
    return Lines().write(threshold_to_install(value, kind))


def check_counts(numbers: list[dict], scores: be.Scores, dataset, threshold: float) -> None:
    """Find each number in a row of the results, and its counts in the scores."""
    genuine, impostor = listed(scores)
    at = threshold if scores.kind == "distance" else -threshold
    fa, fr = int((impostor <= at).sum()), int((genuine > at).sum())
    counts = {"fa": fa, "fr": fr, "far": fa / len(impostor), "frr": fr / len(genuine)}
    for number in numbers:
        found = float(number["value"])
        assert found == dataset[number["variable"]].item()
        if number["variable"] in counts:
            assert found == pytest.approx(counts[number["variable"]], abs=1e-15)
        if number["format"] == "count":
            assert number["text"] == f"{counts[number['variable']]:,}"
        elif number["format"] == "score":
            assert number["text"] == written_threshold(found, scores.kind)
        else:
            assert number["text"] == written_as(number)


def check_reason(said: str, scores: be.Scores, targets: list[float]) -> None:
    """Find the reason for the FAR of the page in a sentence, which holds for the scores."""
    found = re.search(
        r"FAR 1 % is the smallest FAR target at which at least (30?) false accepts are expected"
        r"( with one attempt of each pair of people)?(; at none are 30 expected)?",
        said,
    )
    impostors = len(listed(scores)[1])
    assert found is not None
    if found[2]:
        people = len(scores.subjects)
        impostors = min(impostors, people * (people - 1) // 2)
    assert int(found[1]) <= TARGET * impostors
    assert all(x * impostors < int(found[1]) for x in targets if x < TARGET)
    assert bool(found[3]) == (found[1] == "3")


def check_sentences(text: str, systems: dict[str, be.Scores], trees: dict) -> str:
    """Find each number of each sentence in the results and in the scores; return all the text."""
    answer = Answer(text)
    several = len(systems) > 1
    for row in answer.rows[1:]:  # each system is at its own threshold of the same FAR
        name = next(x for x in systems if row.text.strip().startswith(x))
        live = [x for x in row.numbers if "live" in x]
        dataset = trees[name][live[0]["task"]].to_dataset()
        best = loosest(systems[name], TARGET)
        check_counts(live, systems[name], dataset.sel(threshold=best), best)
        assert written_threshold(best, systems[name].kind) in row.text
    frrs = [float(row.numbers[0]["value"]) for row in answer.rows[1:]]
    assert frrs == sorted(frrs) and len(frrs) == several * len(systems)
    for sentence in answer.sentences:
        assert sentence.system == ""
        name = next(iter(systems))
        scores, tree = systems[name], trees[name]
        said, rest, numbers = sentence.text, sentence.rest, sentence.numbers
        targets = tree["verification/single"]["far_target"].values.tolist()
        live = [x for x in numbers if "variable" in x]
        if live and live[0]["variable"] == "threshold":
            at = float(live[0]["value"])
            dataset = tree[live[0]["task"]].to_dataset().sel(threshold=at)  # a row of it
            assert live[0]["text"] == written_threshold(at, scores.kind)
            check_counts(live[1:], scores, dataset, at)
            for total in map(len, listed(scores)):
                rest = rest.replace(f"of {total:,}", "", 1)
            rest = rest.replace("95 %", "")
        elif "opens with" in said:
            opened = float(numbers[0]["value"])
            best = loosest(scores, TARGET)
            nearest = "is the nearest threshold of these results that is not looser" in said
            assert float(numbers[nearest]["value"]) == best
            assert np.isin(opened, tree["verification/single"]["threshold"])
            if nearest:
                assert opened < best if scores.kind == "distance" else opened > best
            assert "FAR at most 1 %" in said
            check_reason(said, scores, targets)
            rest = rest.replace("at none are 30 expected", "")
        elif said.startswith("Each system is at"):
            assert "FAR at most 1 %" in said
            check_reason(said, scores, targets)
            rest = rest.replace("at none are 30 expected", "")
        assert not re.search(r"\d", rest), (said, rest)
    return " ".join(sentence.text for sentence in answer.sentences)


def check_tables(text: str, trees: dict[str, xr.DataTree]) -> float:
    """Find the numbers of the live tables in the row that each names; return the slider's place."""
    page = Elements(text)
    slider = next(attrs for _, attrs in page.tags if attrs.get("id") == "threshold")
    kind = next(iter(trees.values()))["verification/single"].attrs["kind"]
    shown = written_threshold(float(slider["data-value"]), kind)
    assert f'id="threshold-text" for="threshold">{shown}<' in text
    for row in re.findall(r"<tr>.*?</tr>", text, re.S):
        if not (found := re.search(USED, row)):
            continue
        used = found[1]
        for number in (x for x in Elements(row).numbers if "live" in x):
            dataset = trees[number["system"]][number["task"]].to_dataset()
            values = dataset[number["variable"]]
            values = values.sel(rank=1) if "rank" in values.dims else values
            grid, kind = dataset["threshold"].values.tolist(), dataset.attrs["kind"]
            (places,) = np.nonzero([written_threshold(t, kind) == used for t in grid])
            value = float(number["value"])
            assert any(value == x or math.isnan(value + x) for x in values.values[places].tolist())
    return float(slider["data-value"])


PAGES = {
    "one": lambda: {"one": matrix(1)},
    "ties": lambda: {"ties": matrix(1, step=0.5)},
    "similarities": lambda: {"alike": matrix(1, kind="similarity")},
    "two": lambda: {"a": matrix(1), "b": matrix(2)},
    "four": lambda: {
        "a": matrix(1), "b": matrix(2, step=0.25), "c": matrix(3, kind="similarity"),
        "d": matrix(4, kind="similarity"),
    },
}  # fmt: skip


SLOW = {
    *((name, True) for name in ("one", "ties", "similarities", "two")),
    *((name, False) for name in ("two", "four")),
}


@pytest.mark.parametrize(
    ("name", "together"),
    [
        pytest.param(name, together, marks=[pytest.mark.slow] * ((name, together) in SLOW))
        for name in PAGES
        for together in (False, True)
    ],
)
@pytest.mark.cases(1)
def test_every_number_of_every_sentence_is_in_the_results(name, together, tmp_path):
    systems = PAGES[name]()
    targets = {"far_targets": [TARGET]}
    if together:
        trees = be.evaluate(systems, extra_thresholds=(), **targets)
    else:
        trees = {system: be.evaluate(scores, **targets) for system, scores in systems.items()}
    text = be.report(trees, tmp_path / "page.html").read_text(encoding="utf-8")
    check_sentences(text, systems, trees)
    at = check_tables(text, trees)
    first = next(iter(systems))
    assert at == loosest(systems[first], TARGET)
    used = re.findall(USED, text)
    if together:  # all tasks of a system have a row at its very threshold
        for scores in systems.values():
            assert used.count(written_threshold(loosest(scores, TARGET), scores.kind)) >= 4 * 3


@pytest.mark.parametrize(
    "thresholds", [pytest.param(30, marks=pytest.mark.slow), [1.0, 2.0, 3.0, 5.0]]
)
def test_where_thresholds_were_given_the_sentence_names_both(thresholds, tmp_path):
    scores = matrix(1)
    tree = be.evaluate(scores, thresholds=thresholds, far_targets=[TARGET])
    text = be.report({"one": tree}, tmp_path / "page.html").read_text(encoding="utf-8")
    said = check_sentences(text, {"one": scores}, {"one": tree})
    assert "is the nearest threshold of these results that is not looser than" in said
    check_tables(text, {"one": tree})


@pytest.mark.slow
def test_lists_of_pairs_say_so_too(tmp_path):
    rng = np.random.default_rng(4)
    scores = be.Scores.from_pairs(rng.normal(size=900), np.arange(900) % 9 == 0, kind="similarity")
    trees = {"pairs": be.evaluate(scores, far_targets=[0.1])}
    text = be.report(trees, tmp_path / "page.html").read_text(encoding="utf-8")
    (numbers,) = (x.numbers for x in Answer(text).sentences if x.text.startswith("At the"))
    assert float(numbers[0]["value"]) == loosest(scores, 0.1)
    check_tables(text, trees)


@pytest.mark.slow
def test_open_set_alone_opens_with_a_point_of_its_own(tmp_path):
    """The loosest threshold with FAR at most 10 % is below the nearest impostor past the tenth."""
    scores = matrix(5, people=12)
    trees = {"search": be.open_set(scores, far_targets=[0.1])}
    text = be.report(trees, tmp_path / "page.html").read_text(encoding="utf-8")
    (numbers,) = (x.numbers for x in Answer(text).sentences if x.text.startswith("At the"))
    values, labels = np.asarray(scores.values).copy(), scores.probe_labels
    values[labels[:, None] == labels] = np.inf
    nearest = values.min(axis=1)
    at = {x["variable"]: float(x["value"]) for x in numbers if "variable" in x}
    assert at["fa"] == (nearest <= at["threshold"]).sum() <= 0.1 * len(nearest)
    row = trees["search"].sel(threshold=at["threshold"])
    assert at["frr"] == row.frr.item()
    assert at["threshold"] == trees["search"].threshold_at_far.sel(far_target=0.1, rank=1).item()


@pytest.mark.parametrize("people", [100, 30, 10])
def test_a_page_opens_where_its_table_finds_support(people, tmp_path):
    """By the same rule, in pairs of people; if no target is supported, the answer says so."""
    scores = be.simulate(people, 3, random_state=1)
    tree = be.evaluate(scores, far_targets=[0.01, 0.001, 0.0001])
    text = be.report(tree, tmp_path / "page.html").read_text(encoding="utf-8")
    (answer,) = (x.text for x in Answer(text).sentences if "opens with" in x.text)
    pairs = people * (people - 1) // 2
    table = text[text.index(">false accepts expected<") :].partition("</table>")[0]
    lacks: dict[str, str] = {}
    for row in re.findall(r"<tr>.*?</tr>", table, re.S):
        cells = [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]
        (target,) = {"1 %", "0.1 %", "0.01 %"}.intersection(cells)
        lacks.setdefault(target, cells[-1])  # of single-template verification, which is first
    assert len(lacks) == 3 and all(lacks[x] for x in ("0.1 %", "0.01 %"))
    if pairs < 3 / 0.01:
        assert "not supported" in lacks["1 %"]
        assert "No FAR target of these results is supported: even at FAR 1 %" in answer
    else:
        assert "not supported" not in lacks["1 %"]
        assert "FAR 1 % is the smallest FAR target at which at least" in answer
    assert ("at least 30 false accepts" in answer) == (lacks["1 %"] == "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "doubt"), [(0.01, "is weakly supported"), (0.001, "is not supported")]
)
def test_a_page_doubts_the_target_of_a_study(target, doubt, tmp_path):
    """Where a study chose a threshold for a FAR target that the data do not support."""
    scores = be.simulate(40, 3, random_state=1)
    tree = be.evaluate(scores, far_targets=[0.1, 0.01, 0.001])
    study = be.study_threshold(
        scores,
        f"far={target}",
        folds=4,
        repeats=1,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    tree = tree.assign({"threshold_study": xr.DataTree(study)})
    text = be.report(tree, tmp_path / "page.html").read_text(encoding="utf-8")
    (answer,) = (x.text for x in Answer(text).sentences if "opens with" in x.text)
    assert f"FAR {100 * target:g} % {doubt} by these data" in answer


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_a_page_of_rates_at_one_threshold_opens_there(kind, tmp_path):
    """It names the threshold and its rates."""
    scores = matrix(1, people=10, kind=kind)
    at = 5.0 if kind == "distance" else 0.4
    genuine, impostor = listed(scores)
    limit = at if kind == "distance" else -at
    accepted = f"({(impostor <= limit).sum():,} of {len(impostor):,})"
    rejected = f"({(genuine > limit).sum():,} of {len(genuine):,})"
    results = be.verification(scores, thresholds=[at], auc=False)
    text = be.report(results, tmp_path / "page.html").read_text(encoding="utf-8")
    first, second, *_ = (x.text for x in Answer(text).sentences)
    assert accepted in first and rejected in first and "n/a" not in first
    assert f"opens with, {at:g}, is the only threshold of these results." in second


def test_a_page_opens_at_the_strictest_threshold_where_none_is_an_operating_point(tmp_path):
    """Thresholds that were given, all looser than the operating points."""
    scores = matrix(1, people=10)
    at = be.verification(scores, thresholds=[6.0, 6.5, 7.0], auc=False)
    text = be.report(at, tmp_path / "page.html").read_text(encoding="utf-8")
    first, second, *_ = (x.text for x in Answer(text).sentences)
    fa = (listed(scores)[1] <= 6.0).sum()
    assert f"({fa:,} of" in first
    assert "opens with, 6, is the strictest threshold of these results." in second
    systems = {
        "a": be.verification(scores, thresholds=[5.0], auc=False),
        "b": be.verification(matrix(2, people=10), thresholds=[4.0], auc=False),
    }
    text = be.report(systems, tmp_path / "page.html").read_text(encoding="utf-8")
    said = [x.text for x in Answer(text).sentences]
    assert "Each system is at the only threshold of its results." in said
    used = [re.sub(r"\s+", " ", row.text) for row in Answer(text).rows[1:]]
    assert any("5" in row for row in used) and not any("n/a" in row for row in used)
