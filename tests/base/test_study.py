"""What studies offer at their doors is there, and is found by its name."""

import importlib

import pytest

from bioeval.base import study
from bioeval.base.errors import ProtocolError
from bioeval.evaluation.plan import of_study
from bioeval.protocol import load

#: What the core calls in the modules of each kind.
CALLED = {
    "counts": ("dataset", "scalars", "with_intervals"),
    "tasks": ("plan", "compared", "CALLS"),
    "runners": ("evaluate",),
    "columns": ("column_warnings",),
}
OFFERS = [
    (what, name)
    for what in study.BY_NAME
    for one in study.doors().values()
    for name in getattr(one, what)
]


def test_all_that_is_offered_by_name_is_called():
    assert set(CALLED) == set(study.BY_NAME) == {what for what, _ in OFFERS}


@pytest.mark.parametrize(("what", "name"), OFFERS)
def test_a_module_at_a_door_has_what_the_core_calls(what, name):
    home = study.offered(what, name)
    assert all(hasattr(home, x) for x in CALLED[what])
    if what == "tasks":
        assert callable(home.CALLS[name])
    if (what, name) == ("runners", "top-k"):
        assert callable(home.open_set)


def test_two_studies_offer_nothing_under_one_name():
    assert len(set(OFFERS)) == len(OFFERS)


def test_shortcuts_have_what_a_summary_calls():
    homes = [home for one in study.doors().values() for home in one.shortcuts]
    assert homes
    assert all(callable(importlib.import_module(home).scalars_together) for home in homes)


def test_a_section_of_a_card_that_no_study_evaluates_is_refused():
    assert study.offered("tasks", "tracking") is None
    with pytest.raises(ProtocolError, match=r"course-kfold .*\[tracking\].* leave it out"):
        of_study("tasks", "tracking", load("course-kfold"))
