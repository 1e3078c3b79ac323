"""Ranks as a table: who each probe is, and the worst first."""

import math

import numpy as np

import bioeval as be


def test_ranks_name_the_subject_and_are_ordered_from_the_worst():
    """By hand: bob's mate is behind both others, ann's is first, dan has none."""
    d = [[1, 4, 6], [5, 7, 2], [3, 2, 9.0]]
    ds = be.ranks(be.Scores(d, ["ann", "bob", "dan"], ["ann", "bob", "cat"]))
    assert ds.probe.values.tolist() == [0, 1, 2]
    assert ds.subject.values.tolist() == ["ann", "bob", "dan"]
    frame = be.to_frame(ds)
    assert frame["probe"].tolist() == [1, 0, 2]
    assert frame["subject"].tolist() == ["bob", "ann", "dan"]
    assert frame["identification_rank"].tolist()[:2] == [3, 1]
    assert math.isnan(frame["identification_rank"][2])
    text = be.to_markdown(ds)
    assert text.index("bob") < text.index("ann") < text.index("dan")


def test_ranks_by_a_mask_have_no_subject():
    mask = np.array([[2, 1], [1, 2]])  # 2: genuine, 1: impostor
    frame = be.to_frame(be.ranks(be.Scores([[1.0, 2], [3, 4]], mask=mask)))
    assert "subject" not in frame and frame["probe"].tolist() == [1, 0]


def test_a_comparison_as_a_frame_has_differences():
    systems = {name: be.simulate(20, 3, random_state=seed) for seed, name in enumerate("abc")}
    for number in (2, 3):
        some = {name: systems[name] for name in list(systems)[:number]}
        ds = be.compare(some)
        frame = be.to_frame(ds)
        of_eer = frame[frame["measure"] == "EER"]
        assert len(of_eer) == number * (number - 1) // 2
        for row in of_eer.to_dict("records"):
            at = {"system": row["system"], "other_system": row["other_system"], "measure": "EER"}
            one, other = (
                float(be.verification(systems[row[x]]).eer) for x in ("system", "other_system")
            )
            assert abs(row["difference"] - (one - other)) < 1e-12
            assert row["difference_low"] == float(ds.difference_low.sel(at))
