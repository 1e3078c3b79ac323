"""A question on re-identification by the convention of Market-1501."""

from __future__ import annotations

from bioeval import Scores
from bioeval.document import (
    Column,
    Enumeration,
    Label,
    Number,
    Paragraph,
    Score,
    Table,
    Text,
    say,
)
from bioeval.studies.exam.question import Draws, Question, arrays_of, searched
from bioeval.studies.explain.explain import step_by_step
from bioeval.studies.explain.results import GENUINE, Count, TaskExplanation, in_fractions
from bioeval.studies.explain.steps_section import rates_table
from bioeval.studies.reid.reid import reid

_CARD = "market1501"


def re_identification(draws: Draws) -> Question:
    """Return a question on precision, with entries of the query's own camera to be removed."""
    sizes = draws.layout([(3, 2, 1), (2, 2, 2), (3, 3), (2, 3, 1)])
    while True:
        scores = _scores(draws, sizes)
        if not _matters(scores):
            continue
        ds = reid(scores, per_query=True)
        precisions = ds.average_precision.values.tolist()
        cmc = ds.cmc.values[:2].tolist()
        if cmc[0] < cmc[1]:
            break
    steps = step_by_step(scores, protocol=_CARD)
    answers = {"mean_ap": ds.mean_ap.item(), "cmc_1": cmc[0], "cmc_2": cmc[1]}
    answers |= {f"average_precision_{k}": value for k, value in enumerate(precisions, start=1)}
    lists = []
    for explained in steps.walks:
        title = say(
            "Query {name:name} ({subject:name}, camera {camera:name})",
            name=explained.name,
            subject=explained.subject,
            camera=scores.probe_meta["camera"][explained.probe],
        )
        (task,) = explained.tasks
        lists.append(_list(task, f"query_{explained.probe + 1}", title))
    return Question(
        topic="reid",
        title="Re-identification",
        given={
            **arrays_of(scores),
            "query_cameras": scores.probe_meta["camera"].tolist(),
            "gallery_cameras": scores.gallery_meta["camera"].tolist(),
        },
        setting=(
            Paragraph(
                "Each query is searched in a gallery of images from two cameras. The table has the "
                "distances. As on Market-1501, images of the query's own person from the query's "
                "own camera are removed from its list."
            ),
            _table(scores),
        ),
        asked=(
            "Which images are removed for each query? Write down the ordered list that is left, "
            "and mark the matches.",
            "Compute the average precision (AP) of each query: the mean, over its matches, of the "
            "precision at the place of each match.",
            "Compute the mean average precision (mAP), CMC(1) and CMC(2).",
        ),
        answers=answers,
        solution=(
            Paragraph(
                "(a), (b) The list of each query. The i-th match, at place k, has the precision "
                "i / k; the AP of a query is the mean of the precisions of its matches."
            ),
            *lists,
            Paragraph(
                "(c) CMC(k) is the proportion of queries with a match at place k or better; "
                "between the ranks that are listed it does not change:"
            ),
            rates_table({"reid": steps.totals[-1]["reid"]}, left_out=["mean_inp"]),
        ),
    )


def _scores(draws: Draws, sizes: tuple[int, ...]) -> Scores:
    """Return queries against a gallery, with cameras."""
    queries = draws.sample(["Ann", "Bob", "Cat"][: len(sizes)], 2)
    scores = searched(draws, queries, sizes)
    return Scores(
        scores.values,
        scores.probe_labels,
        scores.gallery_labels,
        probe_meta={"name": ["q1", "q2"], "camera": draws.integers(1, 2, 2)},
        gallery_meta={
            "name": scores.gallery_meta["name"],
            "camera": draws.integers(1, 2, sum(sizes)),
        },
    )


def _matters(scores: Scores) -> bool:
    """Whether images are removed, each query keeps a match, one several, and none has a tie."""
    if any(len(set(row.tolist())) < len(row) for row in scores.values):
        return False
    removed = 0
    matches = []
    for who, camera in zip(scores.probe_labels, scores.probe_meta["camera"], strict=True):
        own = scores.gallery_labels == who
        same = scores.gallery_meta["camera"] == camera
        removed += int((own & same).sum())
        matches.append(int((own & ~same).sum()))
    return removed > 0 and min(matches) > 0 and max(matches) > 1


def _list(task: TaskExplanation, id: str, title: Text) -> Table:
    """Return the list of a query, with the precision at each match and their mean."""
    left = [entry for entry in task.entries if entry.place is not None]
    removed = [Label(entry.template) for entry in task.entries if entry.place is None]
    rows: list[list[Text | None]] = []
    matches = 0
    for entry in left:
        row: list[Text | None] = [Number(entry.place or 0, decimals=0), Label(entry.template)]
        row += [Label(entry.subject), Score(float(entry.score or 0))]
        if entry.role == GENUINE:
            matches += 1
            row += ["match", f"{matches} / {entry.place}"]
        else:
            row += ["", ""]
        rows.append(row)
    precision = task.counts[Count("average_precision", None, 0)]
    notes: list[Text] = []
    if removed:
        notes.append(say("Removed: {names}.", names=Enumeration(removed)))
    notes.append(say("AP = {precision}.", precision=in_fractions(precision)))
    return Table(
        id,
        (
            Column("place", "place"),
            Column("image", "image"),
            Column("subject", "person"),
            Column("distance", "distance"),
            Column("match", "match"),
            Column("precision", "precision"),
        ),
        rows,
        title=title,
        notes=notes,
    )


def _table(scores: Scores) -> Table:
    """Return the distances, with people and cameras."""
    columns = [
        Column("image", "image"),
        Column("subject", "person"),
        Column("camera", "camera"),
        *(
            Column(
                f"query_{i}",
                say(
                    "{name:name} ({who:name}, camera {camera:name})",
                    name=name,
                    who=scores.probe_labels[i],
                    camera=scores.probe_meta["camera"][i],
                ),
            )
            for i, name in enumerate(scores.probe_meta["name"])
        ),
    ]
    rows: list[list[Text | None]] = []
    for j, name in enumerate(scores.gallery_meta["name"]):
        row: list[Text | None] = [Label(name), Label(scores.gallery_labels[j])]
        row.append(Number(int(scores.gallery_meta["camera"][j]), decimals=0))
        row += [Score(float(value)) for value in scores.values[:, j]]
        rows.append(row)
    return Table("scores", columns, rows)
