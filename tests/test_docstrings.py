"""Public names have docstrings; the examples in all docstrings run and print as shown."""

import doctest
import importlib
import inspect
import pkgutil

import numpy as np
import pytest
from optional import optional_import
from reference import one_thread  # noqa: F401

import bioeval


def module_names() -> list[str]:
    modules = pkgutil.walk_packages(bioeval.__path__, "bioeval.")
    return ["bioeval", *(module.name for module in modules if not module.name.endswith("__main__"))]


@pytest.mark.parametrize("name", module_names())
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what an example writes is gone afterwards
    if name == "bioeval.counting.cluster":  # the one module that needs an optional dependency
        optional_import("distributed")
    module = importlib.import_module(name)
    with np.printoptions(legacy=False):
        failed = doctest.testmod(module, optionflags=doctest.ELLIPSIS, report=True).failed
    assert failed == 0, f"{failed} examples fail: python -m doctest says which"


def test_every_public_function_has_an_example():
    for name in bioeval.__all__:
        public = getattr(bioeval, name)
        if callable(public) and not isinstance(public, type):
            assert ">>>" in (public.__doc__ or ""), (
                f"bioeval.{name} has no example. CONTRIBUTING.md, 'Rules', Public functions: "
                "add one to its docstring, with what it prints."
            )


def public_functions() -> dict[str, object]:
    """The functions of the stubs, and the methods and properties of their classes."""
    functions = {}
    for module in (bioeval, bioeval.datasets, bioeval.partition, bioeval.plot, bioeval.stats):
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isclass(member) or inspect.isfunction(member):
                functions[f"{module.__name__}.{name}"] = member
    for class_name, owner in [*functions.items()]:
        for name, member in inspect.getmembers(owner) if inspect.isclass(owner) else ():
            is_method = inspect.isroutine(member) or isinstance(member, property)
            if is_method and not name.startswith("_"):
                functions[f"{class_name}.{name}"] = member
    return functions


def test_every_public_name_has_a_docstring():
    functions = public_functions()
    assert len(functions) > 200
    assert [name for name, member in functions.items() if not inspect.getdoc(member)] == []
