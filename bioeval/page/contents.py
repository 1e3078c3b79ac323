"""A page as text: the answer, the threshold with its table, the sections of results, figures."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from bioeval.base.errors import printable
from bioeval.base.version import __version__
from bioeval.page.figures import PageFigures
from bioeval.page.next_scores import with_shared_next
from bioeval.page.rates import rates_table
from bioeval.page.results import COMPARISON, PageResults, doubts_of_systems
from bioeval.page.sections import PageDocument, PageLines
from bioeval.page.threshold import Moving, uncounted_thresholds
from bioeval.showing.cells import Threshold
from bioeval.showing.images import Images
from bioeval.showing.nodes import Node
from bioeval.showing.terms import in_terms, rates_are_of, task_of, words_of
from bioeval.showing.text import Text, say
from bioeval.showing.writers.html import CSS

#: Systems that the title of a page names, at most.
_MOST_NAMED = 4


def page_text(
    results: Any,
    title: str,
    origin: Sequence[tuple[str, str]],
    images: Images,
    terms: str,
    threshold: float | None,
) -> str:
    """Return results as the text of an HTML page, in their own vocabulary if `terms` is empty.

    `origin` has names and texts about the command, files and software behind the results.
    """
    page = with_shared_next(PageResults.collected(results))
    if terms:
        nodes = [x._replace(dataset=in_terms(x.dataset, terms)) for x in page.nodes]
        page = PageResults(nodes, page.documents)
    vocabulary = terms or next((words_of(x.dataset) for x in page.nodes), "lecture")
    control = Moving.from_nodes(page.nodes, threshold)
    uncounted = uncounted_thresholds(page.nodes, threshold)
    lines = PageLines(vocabulary, _rates_of(control), images)
    document = PageDocument.written(page, PageLines(vocabulary, "", images))
    about_threshold = _about_threshold(page, control, uncounted)
    answer = [*document.answers, *map(lines.write, about_threshold)]
    table = None
    if control is not None:
        table = rates_table(control, len(page.systems) > 1, lines)
    figures = PageFigures(page, control, images)
    first, plots = figures.first(), figures.other_plots()
    alarms = [*map(lines.write, doubts_of_systems(page.nodes)), *document.alarms]
    style, script = CSS + _asset("page.css"), _asset("page.js")
    points: dict[str, Any] = {"cells": [], "marks": figures.marks}
    for row in table["rows"] if table is not None else ():
        points["cells"] += row["cells"]
    names = [x["title"] for x in document.sections[:1]]
    if page.evaluated:
        names = page.systems[:_MOST_NAMED]
    text = _template().render(
        title=printable(title) or ", ".join(names),
        version=__version__,
        answer=answer,
        alarms=list(dict.fromkeys(alarms)),
        first=first,
        table=table,
        # Where nothing is above it, the first section is not folded.
        unfolded=1 if table is None else 0,
        sections=document.sections,
        notes=list(dict.fromkeys(document.notes)),
        plots=plots,
        origin=[*origin, *_made_from(page.nodes)],
        style=style,
        script=script,
        policy=_policy(style, script),
        points=_json(points),
    )
    return _DIRECTIONS.sub(lambda match: printable(match[0]), text)


def _rates_of(control: Moving | None) -> str:
    """Return the kind of attempts behind the rates of the control; empty without rates."""
    if control is None:
        return ""
    dataset = control.leader.dataset
    return rates_are_of(dataset.attrs, searches=task_of(dataset) == "identification")


def _about_threshold(
    results: PageResults, control: Moving | None, uncounted: Mapping[str, Threshold]
) -> Iterator[Text]:
    """Yield at which threshold the page opens, and why, where no answer of a study says it.

    `uncounted` has the thresholds without rates, by system.
    """
    for system, threshold in uncounted.items():
        yield say(
            "The evaluation of {system:name} has no rates at {threshold}, so none are shown here: "
            "evaluate with extra_thresholds=[{number}].",
            system=system,
            threshold=threshold,
            number=repr(threshold.value),
        )
    if control is None:
        return
    if len(results.systems) > 1:
        if not any(x.result_type == COMPARISON for x in results.nodes):
            yield "Whether these systems differ was not tested: bioeval compare does."
        return
    opening = control.opening
    if opening.of_study:
        if opening.about_target:
            yield opening.about_target
        return
    opens_at = control.cells(control.leader)[control.start]["threshold"]
    yield say("The page opens at the threshold {at}, {why}.", at=opens_at, why=opening.why)
    if chosen_on := str(control.leader.dataset.attrs.get("chosen_on", "")):
        yield say("The threshold was chosen on {data}.", data=chosen_on)
    elif opening.is_chosen:
        yield "It was chosen on these data: bioeval threshold tells the rates on new people."


def _made_from(nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    single = [x for x in nodes if x.result_type != COMPARISON]
    fingerprints = {x.system: str(x.dataset.attrs.get("fingerprint", "")) for x in single}
    for system, fingerprint in fingerprints.items():
        if fingerprint:
            yield f"Scores of {system}", fingerprint
    seeds = [x.dataset.attrs.get(k, "") for x in nodes for k in ("random_state", "splitter_seed")]
    if seeds := list(dict.fromkeys(str(x) for x in seeds if x != "")):
        yield "Seed", ", ".join(seeds)


def _json(data: Any) -> str:
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return _ESCAPED_DIRECTIONS.sub(r"\1\\\\u\2", text)


def _policy(style: str, script: str) -> str:
    def digest(text: str) -> str:
        raw = hashlib.sha256(text.encode("utf-8")).digest()
        return f"'sha256-{base64.b64encode(raw).decode('ascii')}'"

    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


# Controls of the direction of text, with which a label could show other words than it holds, in
# markup and as JSON has them.
_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ESCAPED_DIRECTIONS = re.compile(r"(?<!\\)((?:\\\\)*)\\u(061c|200[ef]|202[a-e]|206[6-9])")


@cache
def _asset(name: str) -> str:
    return files("bioeval.page").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html.j2"))
