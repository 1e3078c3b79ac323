"""What is said of plans, in every form of text and in both vocabularies."""

import pytest

import bioeval as be
from bioeval.studies.planning import size_section, work_section
from tests.rendered import WRITERS, lecture_terms


def _stated(**options):
    return be.sample_size(frr=0.02, icc=0.2, far=0.001, **options)


def _door(**options):
    door = {"far": 0.001, "frr": 0.02, "frr_low": 0.015, "frr_high": 0.026}
    return be.workload(door, people_per_day=2000, impostor_share=0.01, **options)


def _of_result(**options):
    ds = be.verification(be.simulate(20, 3, random_state=1), thresholds=[3.0])
    return be.workload(ds, people_per_day=2000, impostor_share=0.01, **options)


@pytest.mark.parametrize(
    ("section_of", "result", "values"),
    [
        (size_section.section, _stated, ["3,514", "246", "1,500"]),
        (work_section.section, _door, ["1,980", "39.6", "1,188", "2.00 %", "2.60", "0.98"]),
        (work_section.section, lambda: _of_result(threshold="far=0.01"), ["1 %"]),
        (work_section.section, _of_result, ["3"]),
    ],
)
def test_a_section_in_all_writers(section_of, result, values):
    section = section_of({"": result()})
    for writer, write in WRITERS.items():
        for vocabulary in ("lecture", "iso"):
            text = write(section, vocabulary).replace(r"\,\%", " %").replace(r"\%", "%")
            assert [value for value in values if value not in text] == [], (writer, text)
            if vocabulary == "iso":
                assert not lecture_terms(text), (writer, text)
