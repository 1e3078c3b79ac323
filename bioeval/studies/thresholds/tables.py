"""The table of a threshold study."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from bioeval.base import counted, larger_is_closer, noun_of
from bioeval.document import is_doubt, messages_of_result
from bioeval.results import RuleOf, threshold_text
from bioeval.studies.assurance.words import (
    NO_INSTALL,
    new_people,
    refuses_threshold,
    threshold_to_install,
)
from bioeval.tallies import Rule, to_user
from bioeval.views import sentence_about, term_translator
from bioeval.views.tables import about, grid, indented, mean_text, plain_table, warned

_UNENROLLED = "people who are not enrolled"
_LABELS = {"far": "FAR, %", "frr": "FRR, %", "hter": "HTER, %"}


_ASSURED = {"new_assured_far": "FAR assured, %", "new_assured_frr": "FRR assured, %"}


_WHERE_CHOSEN = {"new_assured_far": "assured_far_attempts", "new_assured_frr": "assured_frr"}


class StudyTable:
    """The result of :func:`bioeval.study_threshold` that rich can print.

    `reword` is as for :class:`ResultTable`.
    """

    def __init__(self, study: xr.Dataset, reword: Callable[[str], str] = str):
        self.study, self._reword, self._translate = study, reword, term_translator(study)
        self._v = _scalars(study)
        self._new = new_people(str(study.attrs["divided"]))
        self._by_subject = any(self._interval(f"optimistic_{rate}") != "-" for rate in _LABELS)
        self._of_searches = "unenrolled_people" in study
        self._fixed = Rule.written(str(study.attrs["threshold_rule"])).name == "fixed"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield what to install, its rates on these data and on new people, and what is needed."""
        attrs, v = self.study.attrs, self._v
        lines = [*about({"": self.study}), ("Attempts", self._reword(self._attempts()))]
        yield grid((name, text) for name, text in lines if text)
        yield Text("")
        t = v["threshold"]
        known = messages_of_result(self.study)
        doubt = next(filter(is_doubt, known), None)
        if doubt is not None:
            yield Text(f"Warning: {self._reword(sentence_about(doubt))}", "bold yellow")
            yield Text("")
        accept = _accepts(attrs["kind"])
        exact = ""
        if np.isfinite(t) and float(threshold_text(t)) != t:
            exact = f" (exactly {t!r})"
        promised = str(attrs.get("assured_sentence", ""))
        reach = self._translate(str(attrs["out_of_reach"]))
        if promised:
            prefix = "Without a promise" if attrs["assured_reason"] else "Without assurance"
        elif reach:
            prefix = "Provisional"
        else:
            prefix = "Given" if self._fixed else "Install"
        headline = f"{prefix}: {accept} {threshold_to_install(t, attrs['kind'])}{exact}"
        if np.isnan(v["optimistic_hter"]) and np.isnan(t):
            headline = "No threshold: there are no attempts of both classes to choose it on"
        elif np.isnan(t) or t == to_user(-np.inf, attrs["kind"]):
            headline = f"{prefix}: accept nothing (threshold {t!r})"
        refused = refuses_threshold(doubt)
        if refused:
            headline, promised = NO_INSTALL, ""
        if promised:
            yield Text(self._translate(promised), "bold")
            yield from self._assured()
        yield Text(headline, "" if promised else "bold")
        rule = self._translate(str(attrs["threshold_rule_in_words"]))
        if not refused and not self._fixed:
            yield indented(Text(f"by {rule}, chosen on all data", "dim"))
        if reach:
            yield indented(Text(f"{reach[0].upper()}{reach[1:]}.", "yellow"))
        yield Text("")
        narrow = options.max_width < 70
        table, left_out = self._rates(options.max_width)
        yield indented(table)
        if left_out:
            text = f"Not shown in this width: {', '.join(left_out)}. Needs 90 columns of text."
            yield indented(Text(text, style="dim"))
        if attrs["on_new_data"]:
            yield Text("")
            yield Text(self._translate(str(attrs["on_new_data"])), "bold")
        yield from self._needed()
        yield from self._lines(narrow)
        messages = [self._translate(sentence_about(x)) for x in known if not is_doubt(x)]
        yield from warned(self._reword(text) for text in messages if text != reach)

    def _attempts(self) -> str:
        """Return in words how many templates of a subject a claim is compared with."""
        attrs = self.study.attrs
        if self._of_searches or "gallery_templates" not in attrs:
            return ""
        if "multi" in attrs["task"]:
            return "multi-template: a claim is compared with all templates of the subject"
        statement = "single-template: a claim is compared with one template of the subject"
        if attrs["gallery_templates"] == attrs["gallery_subjects"]:
            return statement
        return f'{statement}; with `templates="multi"` it is compared with all'

    def _assured(self) -> Iterator[RenderableType]:
        """Yield the rates of the assured threshold on these data, and its basis."""
        v, attrs = self._v, self.study.attrs
        if np.isfinite(v["assured_far"]):
            impostors = f"searches by {_UNENROLLED}" if self._of_searches else "impostors"
            over = attrs.get("assured_over", "pairs of people")
            on_these = (
                f"{_accepts(attrs['kind'])} {v['assured_threshold']!r}; on "
                f"these data it accepts {mean_text(v['assured_far'])} % of {impostors} (mean over "
                f"{over}; upper limit {mean_text(v['assured_far_high'])} %) and rejects "
                f"{mean_text(v['assured_frr'])} % of genuine attempts"
            )
            yield indented(Text(on_these, "dim"))
        how = {
            "estimated": "estimated; docs/uncertainty.md gives the failure rate in simulations. "
            "Very rare kinds of people are not covered",
            "guaranteed": "guaranteed for any population from which these people were sampled",
        }
        if self._of_searches:
            how["estimated"] = (
                "estimated by resampling people. Very rare kinds of people are not covered"
            )
        rule = str(attrs["assured_rule"])
        yield indented(Text(how.get(rule, rule), "dim"))
        yield Text("")

    def _rates(self, width: int) -> tuple[Table, list[str]]:
        """Return the table of rates, and the columns that do not fit."""
        v, new = self._v, self._new
        here = "these data" if self._fixed else "where chosen"
        # The width from which on each column is shown.
        least = {"": 0, here: 0, "by subject": 70, new: 0, "over folds": 0, "pooled": 90, "sd": 90}
        if not self._by_subject:
            del least["by subject"]
        heads = [head for head in least if width >= least[head]]
        table = plain_table(heads)
        shown = _LABELS | _ASSURED if "new_assured_far_mean" in v else _LABELS
        for rate, label in shown.items():
            chosen = _WHERE_CHOSEN.get(rate, f"optimistic_{rate}")
            cells = {
                "": Text(self._translate(label)),
                here: Text(mean_text(v[chosen])),
                "by subject": Text(self._interval(f"optimistic_{rate}")),
                new: Text(mean_text(v[f"{rate}_mean"]), "bold"),
                "over folds": Text(self._interval(rate)),
                "pooled": Text(mean_text(v[f"{rate}_pooled"])),
                "sd": Text(mean_text(v[f"{rate}_sd"])),
            }
            table.add_row(*map(cells.__getitem__, heads))
        return table, [head for head in least if width < least[head]]

    def _interval(self, rate: str) -> str:
        low = self._v.get(f"{rate}_low", np.nan)
        high = self._v.get(f"{rate}_high", np.nan)
        if np.isfinite([low, high]).all():
            return f"{mean_text(low)} - {mean_text(high)}"
        return "-"

    def _lines(self, narrow: bool) -> Iterator[RenderableType]:
        """Yield what the columns are, and the thresholds of the folds."""
        study = self.study
        t = study["fold_threshold"].values
        t = t[np.isfinite(t)]
        yield Text("")
        columns = "Where chosen: rate on the data of the threshold (optimistic)"
        if self._fixed:
            columns = "These data: rate on all of them at this threshold"
        if self._by_subject and not narrow:
            columns += (
                f"; by subject: its {100 * float(study.attrs['confidence']):g} % interval from "
                "resampled subjects at the same threshold"
            )
        columns += (
            f". {self._new.capitalize()}: mean over the test {study.attrs['divided']} of "
            f"{counted(study.sizes['repeat'], 'divisions')} into "
            f"{counted(study.sizes['fold'], 'folds')}; its interval over folds (Nadeau and Bengio) "
            "is a heuristic."
        )
        if "new_assured_far_mean" in self._v:
            columns += (
                " Assured: over the first division; the promise is on the FAR among all people, "
                "not on the test people of a fold."
            )
        yield Text(columns, style="dim")
        if len(t) and not self._fixed:
            sd = t.std(ddof=1) if len(t) > 1 else np.nan
            yield Text(
                f"Threshold over {counted(len(t), 'folds')}: {t.min():.4g} to {t.max():.4g}, "
                f"sd {sd:.3g}.",
                style="dim",
            )

    def _needed(self) -> Iterator[RenderableType]:
        """Yield the people that the target needs, by the rules of 3 and 30 and for a promise."""
        for needed in needed_people(self.study):
            table = plain_table(list(map(str.lower, needed["heads"])), 2)
            for row in needed["rows"]:
                table.add_row(*(Text(x["text"], "bold" if x["strong"] else "") for x in row))
            yield Text("")
            yield Text(f"{needed['caption'][0].upper()}{needed['caption'][1:]}", style="bold")
            yield indented(table)
            yield Text(needed["note"], style="dim")


def _scalars(study: xr.Dataset) -> dict[str, Any]:
    """Return the numbers of a study that are single."""
    return {str(name): x.item() for name, x in study.data_vars.items() if not x.ndim}


def _accepts(kind: str) -> str:
    """Return the words before a threshold: which scores are accepted."""
    sign = ">=" if larger_is_closer(kind) else "<="
    return f"accept where the {noun_of(kind)} {sign}"


def needed_people(study: xr.Dataset) -> Iterator[dict[str, Any]]:
    """Yield the people that the target of a study needs as a table; nothing if it needs none."""
    v = _scalars(study)
    people, far = "subjects_for_3" in v, "impostors_for_3" in v
    if not people and not far:
        return
    searches, attrs = "unenrolled_people" in v, study.attrs
    pairs = far and not searches
    heads = {}
    if people:
        heads["subjects"] = "People not enrolled" if searches else "People"
    if pairs:
        heads["impostors"] = "Pairs of people" if people else "Impostor pairs"
    if far:
        heads["more"] = "Missing"

    def row(words: str, numbers: dict[str, Any], asked: bool = False) -> list[dict[str, Any]]:
        """Return the cells of a row; that of the target given stands out."""
        cells = [{"text": words, "strong": asked}]
        for key in heads:
            text = _written(numbers.get(key, ""))
            cells.append({"text": text, "right": True, "strong": asked})
        return cells

    compared = min(v["impostor_pairs"], v.get("pairs_of_people", np.inf))
    there = v.get("unenrolled_people", v.get("subjects", ""))
    rows = [row("these data", {"subjects": there, "impostors": compared})]
    for rule, words in ((3, "to show it, rule of 3"), (30, "to expect 30 errors, rule of 30")):
        rows.append(row(words, {key: v.get(f"{key}_for_{rule}", "") for key in heads}))
    for kind, name, before, condition in (
        ("estimated", "people_estimated", "about ", ""),
        ("guaranteed", "people_guaranteed", "about ", ""),
        ("guaranteed", "people_needed", "", " without a false accept"),
    ):
        if np.isfinite(number := v.get(name, np.nan)):
            words = f"to promise it at {100 * float(attrs['assure']):g} %{condition}, {kind}"
            asked = kind == attrs["assurance"]
            rows.append(row(words, {"subjects": f"{before}{number:,.0f}"}, asked))
    statement = "The rules assume independent attempts, and only people are independent."
    if not people:
        statement = "The rules assume independent pairs, and pairs that share people are not."
    elif pairs:
        rare = ""
        if "subjects" in v:
            share = min(1.0, RuleOf(3) / v["subjects"])
            rare = (
                f", and kinds of people rarer than {100 * share:.2g} % may be absent from the data"
            )
        statement = (
            "People are all compared with each other, and a pair of people counts once, "
            "however many templates it has. These are lower bounds: pairs that share a person are "
            f"not independent where some people are closer to all others{rare}."
        )
    if "people_needed" in v:
        statement += " A promise rests on people: more templates of the same people hardly help."
    if np.isfinite(v.get("people_guaranteed", np.nan)):
        statement += (
            " The two rules are compared at the FAR of the strictest threshold tried, a tenth of "
            "the target where there is such a threshold."
        )
    needed = "people" if people else "impostor pairs"
    rate = "FAR" if far else "FRR"
    yield {
        "name": "people",
        "caption": term_translator(study)(f"{needed} that the {rate} needs"),
        "heads": ["", *heads.values()],
        "rows": rows,
        "note": statement,
    }


def _written(number: str | float) -> str:
    return number if isinstance(number, str) else f"{number:,.0f}"
