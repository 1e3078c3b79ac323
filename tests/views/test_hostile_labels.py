"""Labels that would show other words than they hold, on the page."""

from __future__ import annotations

import re

import bioeval as be


def test_controls_of_direction_are_escaped_on_the_page(tmp_path):
    scores = be.simulate(6, 4, random_state=1)
    labels = [f"\u202e{label}\u2066=1+1" for label in scores.probe_labels]
    groups = {"group\u202e": [f"\u200eg{i // 12}" for i in range(24)]}
    odd = be.Scores(scores.values, labels, probe_meta=groups, name="a\u202eb")
    results = {"zoo": be.zoo(odd, permutations=100), "groups": be.by_group(odd, "group\u202e")}
    for name, result in {**results, "worst": be.worst_pairs(odd)}.items():
        be.report(result, tmp_path / f"{name}.html", title="t\u202e")
        text = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert not re.search("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", text), name
        data = "".join(re.findall(r"<script[^>]*json[^>]*>(.*?)</script>", text, re.S))
        assert not re.search(r"(?<!\\)\\u20(0[ef]|2[a-e]|6[6-9])", data), name
        assert "\\u202e" in text, name
