"""Odd arguments of public calls: a small part of ``scripts/fuzz --calls``."""

import sys

import pytest


@pytest.fixture
def fuzz_calls(root, monkeypatch):
    monkeypatch.syspath_prepend(root / "scripts")
    import fuzz_calls

    yield fuzz_calls
    sys.modules.pop("fuzz_calls")


@pytest.mark.slow  # its valid results take seconds
def test_odd_arguments_are_errors_of_ours(fuzz_calls, capsys):
    assert fuzz_calls.run(150, 11) == 0, capsys.readouterr().err
