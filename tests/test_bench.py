"""The benchmarks run, and the page has what they recorded; how fast anything is, is not tested."""

import json

import bench
import pytest


def test_the_recorded_seconds_are_those_of_the_page():
    recorded = json.loads(bench.RECORDED.read_text(encoding="utf-8"))
    page = (bench.RECORDED.parents[1] / "large-data.md").read_text(encoding="utf-8")
    for size, times in recorded["beside"].items():
        pairs = int(size) * (int(size) - 1)
        assert f"| {int(size):,} | {pairs:,} | {times['bioeval']:.3f} |" in page
    for size, record in recorded["growth"].items():
        pairs = int(size) * (int(size) - 1)
        assert f"| {int(size):,} | {pairs:,} | {record['seconds']:.3g} |" in page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_every_part_is_measured():
    tables = (
        bench.peers(200), bench.calls_of_a_matrix(200), bench.embeddings(200, 8),
        bench.partitions(200, 3), bench.lists(20_000), bench.reid(40, 200),
    )  # fmt: skip
    assert [len(x) for x in tables[1:]] == [10, 5, 3, 3, 3]
    assert all(seconds >= 0 for table in tables for seconds in table.values())
