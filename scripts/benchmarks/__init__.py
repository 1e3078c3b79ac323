"""Benchmarks whose figures mean something on another machine: ratios from one run.

``options`` says what is measured, ``workbench`` makes the data and the calls, ``timing`` runs
them in turn, ``suite`` turns times into rows, ``table`` shows them.
``users`` measures what is in ``docs/benchmarks.md``.
"""
