"""Examples that hypothesis draws are the same in every run, in any order of the tests."""

import importlib.util
import sys

import pytest
from hypothesis import given, settings, strategies as st


def drawn() -> list[str]:
    """Return some drawn examples."""
    values: list[str] = []

    @settings(max_examples=300)
    @given(st.one_of(st.integers(), st.floats(), st.text()))
    def draw(value: object) -> None:
        values.append(repr(value))

    draw()
    return values


@pytest.mark.slow
def test_modules_that_other_tests_load_change_no_example(tmp_path, monkeypatch):
    first = drawn()
    file = tmp_path / "loaded_meanwhile.py"
    file.write_text("\n".join(f"x{i}, y{i} = {1e6 + i + 0.25}, {10**9 + i}" for i in range(50)))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, file.stem, module)
    assert drawn() == first and len(set(first)) > 100


def test_examples_are_drawn_by_seed(request):
    """Without a seed the examples follow from the test; a seed is a whole number from 0 up."""
    seed = request.config.option.hypothesis_seed
    assert settings().derandomize == (seed is None)
    assert seed is None or int(seed) >= 0
