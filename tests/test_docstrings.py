"""The examples in the docstrings of every module run, and give what they show."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval


def module_names() -> list[str]:
    found = pkgutil.walk_packages(bioeval.__path__, "bioeval.")
    return ["bioeval", *(module.name for module in found if not module.name.endswith("__main__"))]


@pytest.mark.cases(40)
@pytest.mark.parametrize("name", module_names())
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what an example writes is gone afterwards
    module = importlib.import_module(name)
    with np.printoptions(legacy=False):
        failed = doctest.testmod(module, optionflags=doctest.ELLIPSIS, report=True).failed
    assert failed == 0, f"{failed} examples fail: python -m doctest says which"


def test_every_public_function_has_an_example():
    for name in bioeval.__all__:
        thing = getattr(bioeval, name)
        if callable(thing) and not isinstance(thing, type):
            assert ">>>" in (thing.__doc__ or ""), (
                f"bioeval.{name} has no example. CONTRIBUTING.md, 'Rules', Public functions: "
                "add one to its docstring, with what it prints."
            )
