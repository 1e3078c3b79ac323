"""Every counter adds up: what fresh counters have counted of parts merges to the whole."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import bioeval as be
import bioeval.studies
from bioeval.protocol.tasks import Search
from bioeval.scores.blocks import BlockReader
from bioeval.tallies.counting import Counter
from bioeval.tallies.identification_counter import IdentificationCounter
from bioeval.tallies.parts import ConcatenatedRows
from bioeval.tallies.verification_counter import VerificationCounter

SCORES = be.simulate(9, (2, 5), random_state=3)
GRID = np.linspace(-3, 3, 20)
CLAIMS = np.arange(5), [5, 4, 3, 2, 1]
FUSED = Search(rank_unit="subject", fusion="mean")
CUTS = (0, 7, 8, SCORES.shape[0])


def of_single_templates(reader):
    from bioeval.tallies.single_template import SingleTemplateCounter

    return SingleTemplateCounter(reader, ties="expected", thresholds=GRID, ranks=4)


def of_sizes(reader):
    from bioeval.studies.galleries.sizes import SizeCounter

    return SizeCounter(reader, Search(rank_unit="subject"), GRID)


COUNTERS = {
    "verification": lambda x: VerificationCounter(x, thresholds=GRID),
    "verification, multi": lambda x: VerificationCounter(x, templates="multi", fusion="mean"),
    "verification, claims": lambda x: VerificationCounter(x, claims=CLAIMS),
    "identification": IdentificationCounter,
    "identification, fused": lambda x: IdentificationCounter(x, FUSED),
    "single templates": of_single_templates,
    "sizes": of_sizes,
}


def plain(value):
    """A result as plain values, floats by their bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {name: plain(x) for name, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    if is_dataclass(value):
        return {x.name: plain(getattr(value, x.name)) for x in fields(value) if x.name != "about"}
    return value


def seen(counter):
    """What a counter has counted, with its result unless it is the counter."""
    result = counter.result()
    counts = counter.counts(0, SCORES.shape[0])
    return plain(flat(counts)), None if result is counter else plain(result)


def flat(counts, before=""):
    """A tree of counts as one dictionary."""
    flattened = {}
    for name, value in counts.items():
        if isinstance(value, dict):
            flattened |= flat(value, f"{before}{name}/")
        elif isinstance(value, ConcatenatedRows):
            flattened[before + name] = value.array() if value.arrays else None
        else:
            flattened[before + name] = value
    return flattened


@pytest.mark.parametrize("name", COUNTERS)
def test_parts_merge_to_the_whole(name, monkeypatch):
    monkeypatch.setattr(BlockReader, "rows_per_block", lambda self: 1)
    reader = BlockReader(SCORES)
    whole = COUNTERS[name](reader)
    merging = COUNTERS[name](reader)
    for block in reader.blocks():
        whole.add(block)
    for low, high in zip(CUTS[:-1], CUTS[1:], strict=True):
        part = merging.fresh()
        for block in reader.for_rows(low, high).blocks_of(low, high):
            part.add(block)
        merging.merge(part.counts(low, high), low, high)
    assert seen(merging) == seen(whole)


def every_counter(of):
    for kind in of.__subclasses__():
        if not inspect.isabstract(kind):
            yield kind
        yield from every_counter(kind)


def test_no_counter_is_left_out():
    for module in pkgutil.walk_packages(bioeval.studies.__path__, "bioeval.studies."):
        importlib.import_module(module.name)
    tried = {type(make(BlockReader(SCORES))) for make in COUNTERS.values()}
    assert {x for x in every_counter(Counter) if x.__module__.startswith("bioeval.")} == tried
