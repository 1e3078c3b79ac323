"""Objects in a notebook: small, escaped, without anything that is loaded."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.base.panels import panel
from bioeval.protocol.loading import load

EVIL = "<script>alert(1)</script>\x1b[31m&\"'"
VOID = {"br", "img"}


class Reader(HTMLParser):
    """Collects text and the names of elements, and sees that each is closed."""

    def __init__(self, page: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


def square(**options) -> be.Scores:
    made = be.simulate(6, 3, random_state=1)
    return be.Scores(made.values, made.probe_labels, **options)


def drawn(figure: Figure | None) -> object:
    return be.plot.roc(be.verification(square()), figure)


SHOWN = {
    "a matrix": (lambda: square(name=EVIL), ["18 x 18", "36 genuine, 270 impostor", "3 templates"]),
    "embeddings": (
        lambda: be.Scores.from_embeddings(np.eye(4), list("aabb"), memory_limit=1),
        ["computed as they are read", "metric cosine"],
    ),
    "pairs": (lambda: be.Scores.from_pairs([1.0, 2.0], [1, 0], name=EVIL), ["1 genuine, 1 imp"]),
    "lists": (lambda: be.TopKScores([[0, 1]], ["a"], ["a", "b"], name=EVIL), ["1 queries"]),
    "a check": (lambda: be.check_data(square(kind="similarity")), ["error", "farthest from"]),
    "a card": (lambda: load("market1501"), ["Protocol market1501", "reid"]),
    "a splitter": (lambda: be.partition.SubjectKFold(4), ["SubjectKFold", "4"]),
    "a calibrator": (lambda: be.Calibrator(), ["logistic"]),
    "a fusion": (lambda: be.Fusion(method="mean"), ["mean"]),
    "a display": (lambda: drawn(Figure()), ["RocDisplay"]),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_an_object_shows_itself(name):
    make, expected = SHOWN[name]
    page = make()._repr_html_()
    found = Reader(page)
    for text in expected:
        assert text in found.text, found.text
    assert "script" not in found.seen and "\x1b" not in page
    sources = re.findall(r'(?:src|href|url)\s*[=(]\s*"?([^"]{0,20})', page)
    assert all(source.startswith("data:image/png;base64,"[:20]) for source in sources)
    assert "http" not in re.sub(r"https?://\S+", "", found.text)
    colours = set(re.findall(r"(?<!-)color:([^;\"]+)", page)) | set(
        re.findall(r"background:([^;}\"]+)", page)
    )
    assert colours <= {"inherit", "transparent"}  # of the page, light or dark
    assert len(re.sub(r"base64,[^\"]+", "", page)) < 8000


def test_text_is_escaped():
    found = Reader(panel(EVIL, [(EVIL, EVIL), ("empty", "")]))
    assert found.text.count("<script>alert(1)</script>\\x1b[31m&\"'") == 3
    assert "empty" not in found.text


def test_a_figure_is_in_the_panel_unless_pyplot_shows_it():
    import matplotlib.pyplot as plt

    display = drawn(None)
    assert "<img" not in display._repr_html_()
    plt.close(display.figure_)
    assert "data:image/png" in display._repr_html_()
    assert "data:image/png" in drawn(Figure())._repr_html_()
    undrawn = type(display).from_results(be.verification(square()))
    assert "not yet" in undrawn._repr_html_()


def test_selected_and_masked_scores_say_what_is_left_out():
    mask = np.ones((18, 18), dtype=np.uint8)
    scores = square(probe_meta={"session": np.arange(18) % 2}, exclude=["session"])
    text = Reader(scores._repr_html_()).text
    assert "session" in text and "before what is left out" in text
    assert "by a mask" in Reader(be.Scores(np.eye(18), mask=mask)._repr_html_()).text
