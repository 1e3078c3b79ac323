"""Each kind of counts makes its results itself: the core's own, and those that studies offer."""

import ast
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from result_messages import codes

import bioeval
from bioeval.base import studies
from bioeval.base.manifest import StudyManifest
from bioeval.document import Message, as_json
from bioeval.evaluation.task_counts import TaskCounts, kind_of
from bioeval.results.dataset import Scalars

PACKAGE = Path(bioeval.__file__).parent


def forms_of_tallies():
    """The `form` of every class that declares it as a class variable."""
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "form: ClassVar[str] = " in source:
            for node in ast.walk(ast.parse(source)):
                named = isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "form"
                if named and node.value is not None:
                    yield ast.literal_eval(node.value)


FORMS = list(forms_of_tallies())


def test_the_forms_of_all_tallies_are_found():
    assert {"verification", "identification", "reid", "gom", "folded queries"} < set(FORMS)
    assert len(set(FORMS)) == len(FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_tally_has_its_three_functions(form):
    kind = kind_of(form)
    assert all(callable(getattr(kind, x)) for x in ("dataset", "scalars", "with_intervals"))


@pytest.fixture
def sums(monkeypatch):
    """The form of counts that a study offers which was added just now."""
    home = ModuleType("sums_of_a_new_study")
    home.dataset = lambda tally, node, options: xr.Dataset(
        {"total": tally.numbers.sum() * options["times"]}, attrs={"task": node}
    )
    home.scalars = lambda *arguments: Scalars.of_dataset(home.dataset(*arguments))
    home.with_intervals = lambda dataset, counts, task, reader, options: dataset.assign(
        total_low=dataset.total - counts.options["times"]
    )
    monkeypatch.setitem(sys.modules, home.__name__, home)
    together = {**studies.manifests(), "sums": StudyManifest(counts={"sums": home.__name__})}
    monkeypatch.setattr(studies, "manifests", lambda: together)
    studies.offered.cache_clear()
    yield SimpleNamespace(form="sums", numbers=np.arange(4))
    studies.offered.cache_clear()


def test_counts_of_a_new_study_become_results_by_its_own_functions(sums):
    counts = TaskCounts(sums, {"times": 2})
    result = counts.dataset("sums")
    assert result.total == 12
    assert result.attrs["task"] == "sums"
    assert counts.scalars("sums").plain(()) == {"total": 12}
    assert counts.with_intervals(result, None, None, None).total_low == 10


@pytest.mark.parametrize("known", [[], [Message("one-subject")]])
def test_counts_without_intervals_say_so_beside_other_messages(known):
    before = xr.Dataset(attrs={"task": "a", "messages": as_json(known)})
    expected = {
        "galleries": "no-interval-over-drawn-galleries",
        "folded queries": "no-interval-of-folded-counts",
    }
    for form, code in expected.items():
        counts = TaskCounts(SimpleNamespace(form=form), {})
        result = counts.with_intervals(before, None, None, None)
        assert codes(result) == [*(x.code for x in known), code]
    assert before.attrs["messages"] == as_json(known)
