"""Exams: solved here by loops that read only what the sheet shows, and never the solution."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import naive
import naive_reid
import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be
from bioeval.cli import main
from bioeval.document import Rate, Table
from bioeval.studies.exam.exam import TOPICS
from bioeval.studies.exam.section import section
from bioeval.views.writers.data import as_data

Given = dict[str, Any]
Answers = dict[str, Any]


def is_accepted(score: int, threshold: float, kind: str) -> bool:
    return score <= threshold if kind == "distance" else score >= threshold


def rates_of_class(counts: dict[str, int]) -> Answers:
    genuine, impostor = counts["ga"] + counts["fr"], counts["fa"] + counts["gr"]
    return {
        **counts,
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "gar": Fraction(counts["ga"], genuine),
        "frr": Fraction(counts["fr"], genuine),
        "far": Fraction(counts["fa"], impostor),
        "grr": Fraction(counts["gr"], impostor),
    }


def single(given: Given) -> Answers:
    counts = dict.fromkeys(("ga", "fr", "fa", "gr"), 0)
    people = given["probe_subjects"]
    for i, probe in enumerate(people):
        for j, other in enumerate(people):
            if i == j:
                continue
            accepted = is_accepted(given["scores"][i][j], given["threshold"], given["kind"])
            if probe == other:
                counts["ga" if accepted else "fr"] += 1
            else:
                counts["fa" if accepted else "gr"] += 1
    return rates_of_class(counts)


def multi(given: Given) -> Answers:
    counts = dict.fromkeys(("ga", "fr", "fa", "gr"), 0)
    people = given["probe_subjects"]
    for i, probe in enumerate(people):
        for claimed in sorted(set(people)):
            scores = []
            for j, other in enumerate(people):
                if other == claimed and i != j:
                    scores.append(given["scores"][i][j])
            if not scores:
                continue
            score = min(scores) if given["kind"] == "distance" else max(scores)
            accepted = is_accepted(score, given["threshold"], given["kind"])
            if probe == claimed:
                counts["ga" if accepted else "fr"] += 1
            else:
                counts["fa" if accepted else "gr"] += 1
    return rates_of_class(counts)


def of_classes(given: Given) -> Answers:
    answers = {}
    for name, (genuine, impostor, rejects, accepts) in zip(
        given["systems"], given["counts"], strict=True
    ):
        answers[f"frr_{name}"] = Fraction(rejects, genuine)
        answers[f"far_{name}"] = Fraction(accepts, impostor)
        answers["errors_of_all"] = Fraction(rejects + accepts, genuine + impostor)
    return answers


def of_other_people(given: Given) -> Answers:
    kind, answers = given["kind"], {}

    def rates(people: str, threshold: int) -> tuple[Fraction, Fraction]:
        impostor, genuine = given[f"impostor_{people}"], given[f"genuine_{people}"]
        accepts = sum(is_accepted(x, threshold, kind) for x in impostor)
        rejects = sum(not is_accepted(x, threshold, kind) for x in genuine)
        return Fraction(accepts, len(impostor)), Fraction(rejects, len(genuine))

    candidates = [*given["genuine_development"], *given["impostor_development"]]
    candidates.sort(reverse=kind == "distance")  # the loosest first
    for threshold in candidates:
        if rates("development", threshold)[0] <= Fraction(str(given["target"])):
            break
    answers["threshold"] = threshold
    for people in ("development", "test"):
        answers[f"far_{people}"], answers[f"frr_{people}"] = rates(people, threshold)
    answers["target_is_met"] = answers["far_test"] <= Fraction(str(given["target"]))
    return answers


def ranks(given: Given) -> list[int]:
    """The rank of the nearest mate of each enrolled probe, other templates first."""
    found = []
    for person, row in zip(given["probe_subjects"], given["scores"], strict=True):
        own = [x for x, who in zip(row, given["gallery_subjects"], strict=True) if who == person]
        if own:
            nearer = 0
            for x, who in zip(row, given["gallery_subjects"], strict=True):
                nearer += who != person and x <= min(own)
            found.append(1 + nearer)
    return found


def watch_list(given: Given) -> Answers:
    genuine = impostor = rejects = accepts = 0
    by_rank = {1: 0, 2: 0}
    for person, row in zip(given["probe_subjects"], given["scores"], strict=True):
        own, others = [], []
        for x, who in zip(row, given["gallery_subjects"], strict=True):
            (own if who == person else others).append(x)
        if not own:
            impostor += 1
            accepts += min(others) <= given["threshold"]
            continue
        genuine += 1
        rank = 1 + sum(x <= min(own) for x in others)
        detected = min(own) <= given["threshold"]
        rejects += not (detected and rank == 1)
        for k in by_rank:
            by_rank[k] += detected and rank <= k
    return {
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "dir_1": Fraction(by_rank[1], genuine),
        "dir_2": Fraction(by_rank[2], genuine),
        "frr": Fraction(rejects, genuine),
        "far": Fraction(accepts, impostor),
    }


def everybody_enrolled(given: Given) -> Answers:
    found = ranks(given)
    answers: Answers = {}
    for k in (1, 2, 3):
        answers[f"cms_{k}"] = Fraction(sum(rank <= k for rank in found), len(found))
    return answers | {"recognition_rate": answers["cms_1"], "rank_of_all": max(found)}


def tied(given: Given) -> Answers:
    """Every order of the gallery is tried; a stable sort leaves tied templates in it."""
    worst, best, mean = 0, 0, Fraction(0)
    gallery = given["gallery_subjects"]
    for person, row in zip(given["probe_subjects"], given["scores"], strict=True):
        firsts = []
        for order in itertools.permutations(range(len(gallery))):
            firsts.append(gallery[min(order, key=lambda j: row[j])] == person)
        worst += all(firsts)
        best += any(firsts)
        mean += Fraction(sum(firsts), len(firsts))
    n = len(given["scores"])
    return {
        "recognition_rate_pessimistic": Fraction(worst, n),
        "recognition_rate_optimistic": Fraction(best, n),
        "recognition_rate_expected": mean / n,
    }


def retrieved(given: Given) -> Answers:
    answers: Answers = {}
    firsts = []
    for i, person in enumerate(given["probe_subjects"]):
        left = []
        for j, who in enumerate(given["gallery_subjects"]):
            if who != person or given["gallery_cameras"][j] != given["query_cameras"][i]:
                left.append((given["scores"][i][j], who == person))
        matches, precisions = 0, []
        for place, (_, is_match) in enumerate(sorted(left), start=1):
            if is_match:
                matches += 1
                precisions.append(Fraction(matches, place))
                if matches == 1:
                    firsts.append(place)
        answers[f"average_precision_{i + 1}"] = sum(precisions) / len(precisions)
    answers["mean_ap"] = sum(answers.values()) / len(answers)
    for k in (1, 2):
        answers[f"cmc_{k}"] = Fraction(sum(place <= k for place in firsts), len(firsts))
    return answers


BY_HAND: dict[str, Callable[[Given], Answers]] = {
    "rates": of_classes,
    "verification": single,
    "multi-template": multi,
    "threshold": of_other_people,
    "open-set": watch_list,
    "closed-set": everybody_enrolled,
    "ties": tied,
    "reid": retrieved,
}


def solved_by_hand(exam: dict[str, Any]) -> None:
    """Solve the document of an exam, and compare its answers."""
    for question in exam["questions"]:
        given = json.loads(json.dumps(question["given"]))
        compare(question["answers"], BY_HAND[question["topic"]](given))


def compare(answers: Answers, by_hand: Answers) -> None:
    """Compare answers with those of loops."""
    assert answers.keys() == by_hand.keys()
    for name, value in by_hand.items():
        assert answers[name] == pytest.approx(float(value), abs=1e-12), name


def rows_of(text: str) -> tuple[list[str], list[list[str]]]:
    """The heading and the rows of the only table of a text in Markdown."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return cells[0], cells[2:]


def number(cell: str) -> int:
    return int(cell) if cell else 0  # a template is not compared with itself


def as_printed(topic: str, text: str) -> Given:
    """The arrays of a question as a student reads them in its Markdown, and nothing else."""
    heading, rows = rows_of(text)
    given: Given = {"kind": "similarity" if "imilarit" in text else "distance"}
    for threshold in re.findall(r"\bt = (\d+)\.", text):
        given["threshold"] = int(threshold)
    if topic == "rates":
        return {"systems": [row[0] for row in rows], "counts": [[*map(int, x[1:])] for x in rows]}
    if topic == "threshold":
        (percent,) = re.findall(r"The aim is FAR .{2,8} (\d+) %", text)
        given["target"] = int(percent) / 100
        people = ""
        for name, role, scores in rows:
            people = name or people  # once for its two rows
            given[f"{role}_{people}"] = [*map(int, scores.split(", "))]
        return given
    if topic == "reid":
        queries = [re.fullmatch(r"q\d \((\w+), camera (\d)\)", x) for x in heading[3:]]
        given["probe_subjects"] = [query[1] for query in queries if query]
        given["query_cameras"] = [int(query[2]) for query in queries if query]
        given["gallery_subjects"] = [row[1] for row in rows]
        given["gallery_cameras"] = [int(row[2]) for row in rows]
        given["scores"] = [[int(row[3 + i]) for row in rows] for i in range(len(queries))]
        return given
    given["probe_subjects"] = [row[1] for row in rows]
    given["scores"] = [[number(cell) for cell in row[2:]] for row in rows]
    if topic not in ("verification", "multi-template"):
        columns = [re.fullmatch(r"\w\d \((\w+)\)", x) for x in heading[2:]]
        given["gallery_subjects"] = [column[1] for column in columns if column]
    return given


def printed_sheet_solved_by_hand(exam: Any) -> None:
    """Solve an exam from its Markdown alone, and compare the answers."""
    pages = re.split(r"\*\*Question \d+: .*\*\*", be.to_markdown(exam))[1:]
    assert len(pages) == len(exam.questions)
    for question, text in zip(exam.questions, pages, strict=True):
        compare(dict(question.answers), BY_HAND[question.topic](as_printed(question.topic, text)))


@pytest.mark.parametrize("topic", TOPICS)
def test_the_answers_are_those_of_loops_over_the_arrays_of_the_sheet(topic):
    for seed in range(3):
        solved_by_hand(be.exam(2, topics=[topic], random_state=seed).document())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_many_exams_are_solved_by_hand(seed):
    exam = be.exam(len(TOPICS), variant=1 + seed % 3, random_state=1000 + seed)
    solved_by_hand(exam.document())
    printed_sheet_solved_by_hand(exam)


def test_an_exam_is_solved_from_what_is_printed():
    printed_sheet_solved_by_hand(be.exam(len(TOPICS), random_state=3))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_variants_have_the_same_topics_and_arrays_of_the_same_shape(seed):
    variants = [be.exam(8, variant=k, random_state=seed) for k in (1, 2, 3)]
    assert len({tuple(x.topic for x in exam.questions) for exam in variants}) == 1
    for questions in zip(*(exam.questions for exam in variants), strict=True):
        layouts = set()
        for question in questions:
            shapes = {name: np.shape(value) for name, value in question.given.items()}
            layouts.add(str((shapes, question.given.get("kind"), question.given.get("target"))))
        assert len(layouts) == 1, questions[0].topic
        assert len({str(question.given) for question in questions}) == 3, questions[0].topic


def test_a_variant_is_said_on_its_sheet(tmp_path, capsys):
    topics = ["rates", "closed-set"]
    first, second = (be.exam(2, topics=topics, variant=k, random_state=7) for k in (1, 2))
    assert str(first) == str(be.exam(2, topics=topics, random_state=7)) != str(second)
    assert str(first).startswith("Exam\n") and str(second).startswith("Exam, variant 2\n")
    assert str(second.solutions).startswith("Solutions, variant 2\n")
    words = ["exam", "--seed", "7", "--questions", "2", "--topics", ",".join(topics)]
    assert main([*words, "--variant", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["variant"] == 2 and document["questions"] == second.document()["questions"]


def test_the_data_decide_whether_an_aim_is_reached():
    reached = [0, 0]
    for seed in range(30):
        (question,) = be.exam(1, topics=["threshold"], random_state=seed).questions
        reached[question.answers["target_is_met"]] += 1
        said = str(be.exam(1, topics=["threshold"], random_state=seed).solutions)
        assert "()" not in said
        assert f"(d) {'Yes' if question.answers['target_is_met'] else 'No'}: FAR of the" in said
    assert min(reached) >= 8


def test_the_rank_from_which_all_are_found_varies():
    ranks = []
    for seed in range(30):
        (question,) = be.exam(1, topics=["closed-set"], random_state=seed).questions
        ranks.append(question.answers["rank_of_all"])
    assert {*ranks} == {2, 3, 4} and max(map(ranks.count, ranks)) <= 18


def slow_twins(topic: str, given: Given) -> Answers:
    """Answers by the slow twins that the whole package is held to."""
    if topic == "threshold":
        lists = given["genuine_development"], given["impostor_development"]
        kind, target = given["kind"], given["target"]
        return {"threshold": naive.threshold_at_far(*lists, kind, target)}
    case = {
        "values": given["scores"],
        "probe_labels": given["probe_subjects"],
        "gallery_labels": given.get("gallery_subjects"),
    }
    if topic in ("verification", "multi-template"):
        take = naive.attempts_single if topic == "verification" else naive.attempts_multi
        genuine, impostor = take(**case, kind=given["kind"])
        counts = naive.verification_counts(genuine, impostor, [given["threshold"]], given["kind"])
        return {name: x[0] for name, x in zip(("ga", "fr", "fa", "gr"), counts, strict=True)}
    if topic == "open-set":
        found = naive.open_set(**case, thresholds=[given["threshold"]])
        answers = {"genuine_attempts": found.genuine_attempts, "frr": found.frr[0]}
        return answers | {"far": found.far[0], "dir_1": found.dir[0][0], "dir_2": found.dir[0][1]}
    if topic == "closed-set":
        cms = naive.closed_set(**case).cms
        return {"cms_1": cms[0], "cms_2": cms[1], "cms_3": cms[2], "recognition_rate": cms[0]}
    if topic == "ties":
        policies = ("pessimistic", "optimistic", "expected")
        rates = {x: naive.closed_set(**case, ties=x).cms[0] for x in policies}
        return {f"recognition_rate_{policy}": rate for policy, rate in rates.items()}
    cameras = given["query_cameras"], given["gallery_cameras"]
    found = naive_reid.reid(case, cameras, removed="same-id-same-camera")
    return {"mean_ap": found.mean_ap, "cmc_1": found.cmc[0], "cmc_2": found.cmc[1]}


@pytest.mark.parametrize("topic", [topic for topic in TOPICS if topic != "rates"])
def test_the_answers_are_those_of_the_slow_twins(topic):
    for seed in range(20, 23):
        (question,) = be.exam(1, topics=[topic], random_state=seed).document()["questions"]
        for name, value in slow_twins(topic, question["given"]).items():
            assert question["answers"][name] == pytest.approx(float(value), abs=1e-12), name


@pytest.mark.parametrize("topic", TOPICS)
def test_arrays_are_small_and_their_numbers_whole(topic):
    for seed in range(3):
        (question,) = be.exam(1, topics=[topic], random_state=seed).questions
        for name, value in question.given.items():
            array = np.asarray(value)
            if array.dtype.kind in "if" and name != "target":
                assert (array == np.round(array)).all() and array.max() <= 100, name
            if array.ndim == 2:
                assert max(array.shape) <= 6, name


def test_the_solution_has_the_rates_that_are_asked_for():
    exam = be.exam(len(TOPICS), random_state=5)
    for question in exam.questions:
        rates = {}
        for block in question.solution:
            if not isinstance(block, Table):
                continue
            for row in block.rows:
                for cell in row:
                    if isinstance(cell, Rate) and cell.variable:
                        rates[cell.variable] = cell.value
        for name in rates.keys() & question.answers.keys():
            assert rates[name] == pytest.approx(question.answers[name]), (question.topic, name)
        if question.topic in ("verification", "multi-template"):
            assert rates.keys() == {"gar", "frr", "far", "grr"}


def test_the_sheet_has_the_arrays_and_no_answer():
    exam = be.exam(3, topics=["verification"], random_state=2)
    assert "GA / TG" not in str(exam) and "GA / TG" in str(exam.solutions)
    tables = as_data(section(exam))
    values = exam.questions[0].given["scores"]
    assert tables["scores"][0]["score_1"] == values[0, 1]


def test_the_same_seed_gives_the_same_exam():
    assert str(be.exam(3, random_state=7)) == str(be.exam(3, random_state=7))
    assert str(be.exam(3, random_state=7)) != str(be.exam(3, random_state=8))


def test_an_exam_is_the_same_on_every_system():
    """Numbers of a sheet that was printed stay; they depend on the stream of random numbers."""
    (question,) = be.exam(1, topics=["rates"], random_state=7).questions
    assert question.given["counts"].tolist() == [
        [25, 75, 4, 16],
        [40, 60, 8, 12],
        [10, 90, 6, 14],
    ]


def test_no_topic_comes_twice_before_all_have_come():
    topics = [question.topic for question in be.exam(8, random_state=3).questions]
    assert topics == [*TOPICS]
    two = [question.topic for question in be.exam(5, topics=["ties", "rates"]).questions]
    assert sorted(two, key=two.index) == two and {two.count("ties"), two.count("rates")} == {2, 3}


@pytest.mark.parametrize(
    ("questions", "options", "argument"),
    [
        (0, {}, "questions"),
        (2.5, {}, "questions"),
        (1, {"variant": 0}, "variant"),
        (1, {"variant": "B"}, "variant"),
        (1, {"topics": ["eer"]}, "topics"),
        (1, {"topics": "ties"}, "topics"),
        (1, {"random_state": -1}, "random_state"),
    ],
)
def test_what_is_no_exam_is_an_error(questions, options, argument):
    with raises_about(be.DataError, argument):
        be.exam(questions, **options)


def test_the_command_writes_exam_and_solutions(tmp_path, capsys):
    sheet, solutions = tmp_path / "exam.md", tmp_path / "solutions.tex"
    words = ["exam", "--seed", "7", "--questions", "2", "--topics", "rates, ties"]
    assert main([*words, "--out", str(sheet), "--solutions", str(solutions)]) == 0
    exam = be.exam(2, topics=["rates", "ties"], random_state=7)
    assert sheet.read_text("utf-8") == be.to_markdown(exam)
    assert solutions.read_text("utf-8") == be.to_latex(exam.solutions, document=True)
    assert main([*words, "--out", str(sheet)]) == 2  # it is there
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    solved_by_hand(json.loads(capsys.readouterr().out))
    assert main(words) == 0
    assert "Question 2: Ties" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--out", "--solutions"])
def test_a_file_of_another_ending_is_an_error(option, tmp_path, capsys):
    assert main(["exam", option, str(tmp_path / "exam.docx")]) == 2
    assert option in capsys.readouterr().err


def test_an_exam_is_saved_as_text(tmp_path):
    exam = be.exam(1, topics=["rates"])
    exam.save(tmp_path / "exam.txt")
    assert (tmp_path / "exam.txt").read_text("utf-8") == str(exam)
    with raises_about(be.DataError, "path"):
        exam.solutions.save(tmp_path / "solutions.pdf")
