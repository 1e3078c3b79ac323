"""A question on a threshold that is chosen on some people and used on others."""

from __future__ import annotations

import numpy as np

from bioeval import Scores, verification
from bioeval.base import Kind, larger_is_closer
from bioeval.document import Column, Enumeration, Paragraph, Score, Table, Text, say
from bioeval.studies.exam.question import KINDS, Draws, Question


def threshold_of_others(draws: Draws) -> Question:
    """Return a question on a threshold that is chosen on development scores."""
    kind = draws.layout(KINDS)
    target = draws.layout([0.1, 0.2])
    while True:
        dev, test = _lists(draws, kind), _lists(draws, kind)
        chosen = verification(_pairs(dev, kind), far_targets=[target], auc=False)
        threshold = chosen.threshold_at_far.item()
        on_dev = _rates(dev, kind, threshold)
        on_test = _rates(test, kind, threshold)
        differ = on_test["far"] != on_dev["far"] > 0 and on_test["far"] < 0.5
        if differ and 0 < on_dev["frr"] < 0.8 and 0 < on_test["frr"] < 1:
            break
    scores = {"development": dev, "test": test}
    rows: list[list[Text | None]] = []
    for people, lists in scores.items():
        for role, values in lists.items():
            rows.append([people, role, Enumeration([Score(float(x)) for x in values], "")])
    sheet = Table(
        "scores",
        (
            Column("people", "people", grouped=True),
            Column("role", "attempts"),
            Column("scores", "distances" if kind == "distance" else "similarities"),
        ),
        rows,
    )
    answers = {"threshold": threshold}
    answers |= {f"{name}_development": value for name, value in on_dev.items()}
    answers |= {f"{name}_test": value for name, value in on_test.items()}
    answers["target_is_met"] = on_test["far"] <= target
    n_impostor = len(dev["impostor"])
    allowed = int(np.floor(target * n_impostor + 1e-9))
    return Question(
        topic="threshold",
        title="A threshold that is chosen on other people",
        given={"kind": kind, "target": target, **_given(scores)},
        setting=(
            Paragraph(
                say(
                    "A threshold is chosen on the scores of some people (development) and used on "
                    "other people (test). {noun} accepted if it is at {side} the threshold. The "
                    "aim is {far} <= {target:rate}.",
                    noun="A distance is" if kind == "distance" else "A similarity is",
                    side="most" if kind == "distance" else "least",
                    target=target,
                    task="verification",
                )
            ),
            sheet,
        ),
        asked=(
            say(
                "Among the development scores, genuine and impostor: which one is the loosest "
                "threshold with {far} <= {target:rate} on the development people?",
                target=target,
                task="verification",
            ),
            say("What are {far} and {frr} of the development people there?", task="verification"),
            say("What are {far} and {frr} of the test people there?", task="verification"),
            say(
                "Is the aim reached on the test people? Which {far} is to be reported, and why?",
                task="verification",
            ),
        ),
        answers=answers,
        solution=(
            Paragraph(
                say(
                    "(a) At most {allowed:count} of the {n:count} impostor attempts may be "
                    "accepted. The loosest score that accepts no more of them is t = "
                    "{threshold:score}.",
                    allowed=allowed,
                    n=n_impostor,
                    threshold=threshold,
                )
            ),
            *_found("(b) Development people", dev, kind, threshold),
            *_found("(c) Test people", test, kind, threshold),
            Paragraph(
                say(
                    "(d) {reached}: {far} of the test people is {test:rate}, and this one is to be "
                    "reported. The threshold was fitted to the development scores, and their {far} "
                    "is at most {target:rate} by construction: it says nothing about other people.",
                    reached="Yes" if on_test["far"] <= target else "No",
                    test=on_test["far"],
                    target=target,
                    task="verification",
                )
            ),
        ),
    )


_Lists = dict[str, np.ndarray]


def _lists(draws: Draws, kind: Kind) -> _Lists:
    """Return genuine and impostor scores in ascending order; those of a list differ."""
    genuine = np.sort(draws.sample(range(2, 22), 5))
    impostor = np.sort(draws.sample(range(9, 36), 10))
    if larger_is_closer(kind):
        genuine, impostor = np.sort(40 - genuine), np.sort(40 - impostor)
    return {"genuine": genuine, "impostor": impostor}


def _pairs(lists: _Lists, kind: Kind) -> Scores:
    """Return lists of scores as scores of pairs."""
    sizes = [len(lists["genuine"]), len(lists["impostor"])]
    values = np.concatenate([lists["genuine"], lists["impostor"]])
    return Scores.from_pairs(values, np.repeat([1, 0], sizes), kind=kind)


def _rates(lists: _Lists, kind: Kind, threshold: float) -> dict[str, float]:
    """Return FAR and FRR at a threshold."""
    ds = verification(_pairs(lists, kind), thresholds=[threshold], auc=False)
    return {"far": ds.far.item(), "frr": ds.frr.item()}


def _given(scores: dict[str, _Lists]) -> dict[str, np.ndarray]:
    """Return the lists by name: ``genuine_development`` ..."""
    given = {}
    for people, lists in scores.items():
        for role, values in lists.items():
            given[f"{role}_{people}"] = values
    return given


def _found(title: str, lists: _Lists, kind: Kind, threshold: float) -> tuple[Paragraph, ...]:
    """Return the rates of some people with the scores that are counted."""
    ds = verification(_pairs(lists, kind), thresholds=[threshold], auc=False).isel(threshold=0)
    accepted = []
    for values in (lists["genuine"], lists["impostor"]):
        within = values <= threshold if kind == "distance" else values >= threshold
        accepted.append(within)
    rejected = lists["genuine"][~accepted[0]]
    false_accepts = lists["impostor"][accepted[1]]
    return (
        Paragraph(
            say(
                "{title}: impostor attempts accepted: {fa:count} of {ti:count} ({accepted}), {far} "
                "{far_value:rate}. Genuine attempts rejected: {fr:count} of {tg:count} "
                "({rejected}), {frr} {frr_value:rate}.",
                title=title,
                fa=int(ds.fa),
                ti=int(ds.impostor_attempts),
                accepted=_listed(false_accepts),
                far_value=ds.far.item(),
                fr=int(ds.fr),
                tg=int(ds.genuine_attempts),
                rejected=_listed(rejected),
                frr_value=ds.frr.item(),
                task="verification",
            )
        ),
    )


def _listed(values: np.ndarray) -> Text:
    """Return scores, or that there are none."""
    return Enumeration([Score(float(x)) for x in values], "") if len(values) else "none"
