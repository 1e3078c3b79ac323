"""Protocol cards: the shipped ones, what the reader refuses and how it says so."""

import copy
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from card_reference import reference
from hypothesis import given, strategies as st

import bioeval as be
from bioeval import protocol
from bioeval.cli import main
from bioeval.protocol import fields as card_text
from bioeval.protocol.card import HEAD, SECTIONS
from bioeval.protocol.fields import fields_of

ROOT = Path(__file__).resolve().parents[2]
COURSE = ["course-all-vs-all", "course-probe-vs-gallery"]
LAYOUTS = ["all-against-all", "probe-against-gallery", "pairs"]
FIELD = ["fvc2004", "frte-11", "frte-1n", "ijbc-11", "ijbc-1n", "voxceleb"]

CARD = """\
schema = 1
name = "mine"
title = "My protocol"
summary = "A card for the tests."
layout = "probe-against-gallery"

[source]
text = "a test"

[verification]
templates = ["single"]

[open_set]
ties = "optimistic"
rank_unit = "subject"
fusion = "kth:2"

[report]
far_targets = [0.5]
"""


def problems(text: str) -> list[str]:
    """The lines of the error that a card makes."""
    with pytest.raises(be.CardError) as caught:
        protocol.parse(text, "mine.toml")
    return str(caught.value).splitlines()


def changed(old: str, new: str, card: str = CARD) -> str:
    assert card.count(old) == 1
    return card.replace(old, new)


# --- the shipped cards ----------------------------------------------------------------------


def test_the_shipped_cards_are_the_files_of_the_repository():
    names = set(protocol.available())
    assert {*COURSE, "pairs", *FIELD} <= names
    assert {path.stem for path in (ROOT / "protocols").glob("*.toml")} == names
    assert protocol.load(ROOT / "protocols" / "pairs.toml") == protocol.load("pairs")
    for name in names:
        card = protocol.load(name)
        assert card.path.endswith(f"{name}.toml")
        assert card.name == name and card.not_said and card.source.section
        undated = any(word in card.source.text.lower() for word in ("lecture", "ongoing"))
        assert card.source.year or undated
    own = {layout: protocol.for_layout(layout) for layout in LAYOUTS}
    assert {card.name for card in own.values()} == {*COURSE, "pairs"}
    assert all(card.layout == layout for layout, card in own.items())


@pytest.mark.parametrize("name", COURSE)
def test_a_course_card_is_the_lecture(name):
    """The lecture fixes single and multi, the nearest template, and template ranks."""
    tasks = protocol.load(name).tasks
    assert list(tasks) == ["verification", "open_set", "closed_set"]
    assert tasks["verification"]["templates"] == ("single", "multi")
    assert tasks["verification"]["fusion"] == "best"
    for task in ("open_set", "closed_set"):
        assert tasks[task]["rank_unit"] == "template"
        assert tasks[task]["ties"] == "pessimistic"
        assert tasks[task]["max_rank"] is None
    assert tasks["closed_set"]["unmated"] == ("auto" if name == "course-all-vs-all" else "skip")


# --- reading --------------------------------------------------------------------------------


def test_a_card_is_read_as_it_is_written_and_the_rest_is_default():
    card = protocol.parse(CARD)
    assert (card.name, card.title, card.layout) == ("mine", "My protocol", "probe-against-gallery")
    assert card.path is None
    assert card.not_said == ()
    assert dict(card.source) == {"text": "a test", "year": None, "section": None, "url": None}
    assert list(card.tasks) == ["verification", "open_set"]
    assert dict(card.tasks["verification"]) == {
        "templates": ("single",),
        "fusion": "best",
        "pairs": "ordered",
    }
    assert dict(card.tasks["open_set"]) == {
        "impostors": "auto",
        "rank_unit": "subject",
        "fusion": "kth:2",
        "ties": "optimistic",
        "gallery": "all",
        "max_rank": None,
    }
    assert card.closed_set is None and card.partition is None
    assert dict(card.curve) == {"n_thresholds": 1000, "thresholds": None}
    assert dict(card.report) == {
        "far_targets": (0.5,), "frr_targets": None, "priors": (0.5,), "ranks": (1, 5, 10)
    }  # fmt: skip


def test_thresholds_are_a_number_or_values():
    card = protocol.parse(CARD + "\n[curve]\nthresholds = [-inf, 0, 0.5, +inf]\n")
    assert card.curve.n_thresholds is None
    assert card.curve.thresholds == (-float("inf"), 0.0, 0.5, float("inf"))
    card = protocol.parse(CARD + "\n[curve]\nn_thresholds = 2\n")
    assert dict(card.curve) == {"n_thresholds": 2, "thresholds": None}


def test_a_protocol_cannot_be_changed():
    card = protocol.load("pairs")
    with pytest.raises(AttributeError):
        card.name = "other"
    with pytest.raises(AttributeError):
        card.verification.fusion = "max"
    with pytest.raises(TypeError):
        card.tasks["verification"]["fusion"] = "max"


@pytest.mark.parametrize("text", [CARD, *(ROOT.glob("protocols/*.toml"))], ids=str)
def test_a_protocol_travels(text):
    """A protocol goes to another process, and back to an equal card."""
    text = text if isinstance(text, str) else text.read_text(encoding="utf-8")
    card = protocol.parse(text)
    card.sections.clear()
    assert card.tasks
    assert pickle.loads(pickle.dumps(card)) == card
    assert copy.deepcopy(card) == card
    assert hash(copy.deepcopy(card)) == hash(card)
    assert protocol.parse(card.to_toml()) == card
    assert protocol.parse(CARD.replace('"mine"', '"other"')) != card


def test_load_takes_a_name_a_path_or_a_protocol(tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    path.write_text(CARD, encoding="utf-8")
    card = protocol.load(path)
    assert card == protocol.load(str(path)) == protocol.parse(CARD)
    assert card.path == str(path)
    assert protocol.load(card) is card
    monkeypatch.chdir(tmp_path)
    assert protocol.load("mine.toml") == card


@pytest.mark.parametrize(
    "raw",
    [
        CARD.encode("utf-8-sig"),
        CARD.replace("\n", "\r\n").encode(),
        CARD.replace("a test", "Łukasz и 王").encode(),
    ],
    ids=["byte order mark", "Windows line ends", "other scripts"],
)
def test_cards_as_editors_save_them(tmp_path, raw):
    path = tmp_path / "mine.toml"
    path.write_bytes(raw)
    assert protocol.load(path).name == "mine"


# --- cards that are not there ---------------------------------------------------------------


def test_cards_that_are_not_there(tmp_path):
    with pytest.raises(be.CardError) as caught:
        protocol.load("course-all-vs-al")
    message = str(caught.value)
    assert all(name in message for name in protocol.available())
    assert "Did you mean 'course-all-vs-all'?" in message
    assert ".toml" in message
    with pytest.raises(be.CardError, match="Did you mean 'all-against-all'"):
        protocol.for_layout("all-vs-all")
    huge, latin = tmp_path / "huge.toml", tmp_path / "latin.toml"
    huge.write_bytes(b"#" * ((16 << 10) + 1))
    latin.write_bytes("# one\n# two\n# três\n".encode("latin-1"))
    for path, problem in (
        (tmp_path / "none.toml", "no such file"),
        (f"{tmp_path}/none", "no such file"),
        (tmp_path, "a folder"),
        (huge, "larger than 16 KiB"),
        (latin, "is not a text in UTF-8"),
        (tmp_path / ("x" * 300 + ".toml"), ""),
    ):
        with pytest.raises(be.CardError) as caught:
            protocol.load(path)
        assert str(path)[:100] in str(caught.value) and problem in str(caught.value)


# --- cards that are wrong -------------------------------------------------------------------


WRONG = {
    # what is replaced, by what, what the message holds
    "schema of another version": (
        "schema = 1", "schema = 2", "schema = 2; expected 1, the version of the card format"
    ),
    "no name": ('name = "mine"', "", "name is missing; expected a text of lower-case"),
    "bad name": ('"mine"', '"My card"', 'name = "My card"; expected a text of lower-case'),
    "unknown layout": (
        '"probe-against-gallery"', '"probes-against-gallery"',
        "Did you mean 'probe-against-gallery'?",
    ),
    "unknown section": (
        "[open_set]", "[openset]",
        "[openset] is not a section of a card; expected one of [source], [verification],",
    ),
    "section of a rule": ("[report]", "[threshold]", "Did you mean 'decision'?"),
    "unknown field": (
        'ties = "optimistic"', 'tie = "optimistic"',
        '[open_set] tie = "optimistic" is not a field of [open_set]; expected one of rank_unit, ',
    ),
    "field of another section": (
        "[report]", "[report]\nties = 1",
        "ties = 1 is not a field of [report]; expected one of far_targets",
    ),
    "value for a section": (
        "schema = 1", "schema = 1\nclosed_set = 3",
        "closed_set = 3; expected a section, [closed_set]",
    ),
    "a text for a list": (
        '["single"]', '"single"',
        'templates = "single"; expected a list of words among "single", "multi". '
        'Did you mean ["single"]?',
    ),
    "an empty list": ('["single"]', "[]", "templates = []; expected a list of words among"),
    "a word twice": ('["single"]', '["single", "single"]', 'templates holds "single" twice'),
    "kth 0": ('"kth:2"', '"kth:0"', 'fusion = "kth:0"; expected one of "best"'),
    "too small": (
        "[0.5]", "[0.5, 0.0]", "far_targets holds 0.0; expected a list of numbers > 0 and <= 1"
    ),
    "nan": ("[0.5]", "[nan]", "far_targets holds nan; expected a list of numbers > 0"),
    "a number twice": ("[0.5]", "[0.5, 0.5]", "far_targets holds 0.5 twice; expected a list"),
    "a fraction for an integer": (
        "[report]", "max_rank = 1.0\n\n[report]", "max_rank = 1.0; expected an integer >= 1"
    ),
    "thresholds and their number": (
        "[report]", "[curve]\nthresholds = [1]\nn_thresholds = 5\n\n[report]",
        "[curve] holds thresholds and n_thresholds; expected only one",
    ),
    "thresholds that fall": (
        "[report]", "[curve]\nthresholds = [1, 3, 2]\n\n[report]",
        "thresholds holds 3.0 before 2.0; expected a list of numbers, in increasing order",
    ),
    "no source": ('[source]\ntext = "a test"', "", "[source] is missing; expected a section"),
}  # fmt: skip


PAIRS = changed('"probe-against-gallery"', '"pairs"')
SQUARE = changed('"probe-against-gallery"', '"all-against-all"')

EXPERIMENT = """
schema = 1
name = "mine"
title = "Mine"
summary = "An experiment."
layout = "all-against-all"
[source]
text = "x"
[verification]
[partition]
by = "experiment"
"""

#: What a layout does not know, and values that do not go together: a text and the message.
WRONG_TOGETHER = [
    (
        PAIRS,
        '[open_set] has no meaning with layout = "pairs"; expected layout = '
        '"all-against-all" or "probe-against-gallery"',
    ),
    (
        PAIRS.replace('["single"]', '["multi"]'),
        '[verification] templates holds "multi"; expected a list of words among "single" '
        'with layout = "pairs"',
    ),
    (
        changed("[open_set]", '[open_set]\nimpostors = "both"', SQUARE),
        '[open_set] impostors = "both"; expected one of "auto", "leave-subject-out" with '
        'layout = "all-against-all"',
    ),
    (
        PAIRS.partition("[open_set]")[0] + 'fusion = "mean"\n',
        '[verification] fusion = "mean"; fusion has no meaning with layout = "pairs"',
    ),
    *(
        (f"{EXPERIMENT}{text}\n", expected)
        for text, expected in (
            ("train = 1.5", "train = 1.5; expected a proportion between 0 and 1, or an integer >="),
            ('train = "half"', 'train = "half"; expected a proportion'),
            ("train = 0.5\nunenrolled = 0.3", "unenrolled = 0.3 needs gallery_templates"),
            ("repeats = 3", "neither train nor validation"),
            ("train = 0.5\nfolds = 3", 'folds = 3 has no meaning with by = "experiment"'),
            ("train = 0.5\n[claims]\ngenuine = 2", "genuine = 2; expected a number >= 0 and <= 1"),
            ("train = 0.5\nunseen = 3", 'unseen = 3 has no meaning without unit = "sample"'),
            ("train = 2\ngallery_templates = { quality = 1, number = 1 }", "quality = 1, number ="),
            ('train = 2\n[decision]\nrule = "far"', 'rule = "far" needs far; it is missing'),
            ("train = 2\n[decision]\nfar = 0.1", 'far = 0.1 has no meaning with rule = "eer"'),
            ('unit = "sample"', 'unit = "sample" needs train or validation'),
            (
                "train = 2\ngallery_templates = 1\nenrolled = 2\nunenrolled = 2",
                "unenrolled = 2 has no meaning beside enrolled",
            ),
        )
    ),
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(pytest.param(changed(*x[:2]), x[2], id=name) for name, x in WRONG.items()),
        *WRONG_TOGETHER,
    ],
)
def test_a_wrong_card_says_where_what_and_what_was_expected(text, expected):
    (problem,) = problems(text)
    assert problem.startswith("mine.toml: ")
    assert expected in problem


def in_python(name: str, section: str, **fields: object) -> protocol.Protocol:
    card = protocol.load(name)
    return replace(card, **{section: replace(card.section(section), **fields)})


@pytest.mark.parametrize(
    ("card", "expected"),
    [
        (in_python("course-kfold", "partition", folds=1), "[partition] folds = 1; expected an in"),
        (in_python("course-kfold", "partition", folds="5"), '[partition] folds = "5"; expected an'),
        (in_python("course-kfold", "open_set", max_rank=3), "max_rank = 3 has no meaning in folds"),
        (in_python("course-kfold", "report", far_targets=(2,)), "[report] far_targets holds 2;"),
        (in_python("pairs", "verification", fusion="max"), 'fusion = "max"; fusion has no meaning'),
        (in_python("course-all-vs-all", "decision", rule="hter"), "[decision] needs [partition]"),
        (replace(protocol.load("pairs"), layout="pair"), "Did you mean 'pairs'?"),
        (replace(protocol.load("pairs"), verification=None), "the card has no task; expected"),
    ],
    ids=lambda x: x if isinstance(x, str) else x.name,
)
def test_a_card_made_in_python_is_checked_as_a_file_is(card, expected):
    with pytest.raises(be.CardError, match=f"protocol {card.name}: ") as caught:
        be.evaluate(be.simulate(4, 2), card)
    assert expected in str(caught.value)


def test_numbers_of_numpy_are_numbers_of_a_card():
    ranks = tuple(np.arange(1, 4))
    card = in_python("course-all-vs-all", "report", ranks=ranks, far_targets=[np.float32(0.5)])
    assert protocol.load(card) is card


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("schema = 1", "schema 1", "mine.toml: not valid TOML: Expected '=' .* \\(at line 1,"),
        ("[open_set]", "[verification]", "mine.toml: not valid TOML: Cannot declare .*at line 13"),
        ("[0.5]", "[" * 20000, "mine.toml: not valid TOML: brackets are nested too deeply"),
        ("schema = 1", f"schema = {'1' * 5000}", "mine.toml: not valid TOML: "),
    ],
    ids=["no equal sign", "section twice", "deep", "endless digits"],
)
def test_a_syntax_error_has_its_line(old, new, expected):
    (problem,) = problems(changed(old, new))
    assert re.match(expected, problem)


# --- lines ----------------------------------------------------------------------------------


VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"]))
    | st.integers()
    | st.booleans()
    | st.floats(allow_nan=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab\"'.= #[]é\n"), inner),
    max_leaves=8,
)


FIELDS = {"": HEAD, **{name: fields_of(section) for name, section in SECTIONS.items()}}


@given(st.sampled_from(list(FIELDS)), st.data())
def test_any_value_of_any_field_is_taken_or_refused(section, data):
    key = data.draw(st.sampled_from(list(FIELDS[section])))
    value = data.draw(VALUES)
    table = {"": {}, "source": {"text": "t"}, "open_set": {}, "verification": {}}
    head = {"schema": 1, "name": "x", "title": "x", "summary": "x", "layout": "pairs"}
    (head if section == "" else table.setdefault(section, {}))[key] = value
    text = "".join(f"{k} = {card_text.write_toml(v)}\n" for k, v in head.items())
    for name, fields in table.items():
        text += f"\n[{name}]\n" * bool(name)
        text += "".join(f"{k} = {card_text.write_toml(v)}\n" for k, v in fields.items() if name)
    with pytest.raises(be.CardError):  # [open_set] of pairs, at least
        protocol.parse(text)


# --- words ----------------------------------------------------------------------------------


def test_the_reference_has_every_section_and_field():
    parts = re.split(r"^### ", reference(), flags=re.MULTILINE)[2:]
    listed = {part.split("`")[1].strip("[]"): part for part in parts}
    assert list(listed) == list(SECTIONS)
    for name, section in SECTIONS.items():
        assert [x for x in fields_of(section) if f"`{x}`" not in listed[name]] == []


def test_the_cards_of_the_page_are_valid():
    page = (ROOT / "docs" / "protocol-cards.md").read_text(encoding="utf-8")
    cards = re.findall(r"^```toml\n(schema = .*?)^```", page, re.MULTILINE | re.DOTALL)
    assert cards
    for card in cards:
        assert protocol.parse(card, "docs/protocol-cards.md")


def test_an_experiment_reads_back_as_it_is_written():
    parts = 'train = 0.5\ngallery_templates = "session=1,2"\nunenrolled = 3\n'
    card = protocol.parse(EXPERIMENT + parts + "[claims]\ngenuine = 0.1\n")
    assert (card.partition.train, card.partition.unenrolled) == (0.5, 3)
    assert isinstance(card.partition.unenrolled, int) and card.claims.per_probe == 1
    assert protocol.parse(card.to_toml()) == card
    assert "session=1,2" in protocol.explain(card) and "test_size" not in protocol.explain(card)


RANKS = [
    ("course-all-vs-all", "closed_set"),
    ("course-all-vs-all", "open_set"),
    ("market1501", "reid"),
    ("gom-market1501", "gom"),
]


@pytest.mark.parametrize(("name", "section"), RANKS)
def test_the_ranks_of_a_card_are_not_blamed_on_the_option(tmp_path, capsys, name, section):
    text = (ROOT / "protocols" / f"{name}.toml").read_text()
    head, _, body = text.partition(f"[{section}]\n")
    own, mark, further_sections = body.partition("\n[")
    own = "".join(x for x in own.splitlines(keepends=True) if not x.startswith("max_rank"))
    card = tmp_path / "mine.toml"
    card.write_text(f"{head}[{section}]\nmax_rank = 20001\n{own}{mark}{further_sections}")
    labels, cams = np.arange(8) // 2, np.tile([1, 2], 4)
    arrays = {"labels": labels, "camera": cams}
    if "market" in name:
        arrays = {"probe_labels": labels, "gallery_labels": labels}
        arrays |= {"probe_camera": cams, "gallery_camera": 3 - cams}
    distances = np.random.default_rng(0).random((8, 8))
    np.savez(tmp_path / "s.npz", scores=distances, kind="distance", **arrays)
    words = ["run", str(tmp_path / "s.npz"), "--protocol", str(card)]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert f"protocol {name}: [{section}] max_rank is 20001; expected at most 10000" in said
    assert "--max-rank" not in said
    assert main([*words, "--max-rank", "20002"]) == 2
    assert "--max-rank is 20002; expected at most 10000" in capsys.readouterr().err
