"""The catalogue of messages: each has a code and a sentence."""

import re
from pathlib import Path

import pytest

import bioeval as be
from bioeval.base.errors import Message, as_json, message_attrs, messages_of
from bioeval.showing.numbers import Lines
from bioeval.showing.sentences import ANSWERS, SENTENCES, Doubt


@pytest.mark.parametrize("code", SENTENCES)
def test_every_message_has_a_sentence(code):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    assert SENTENCES[code].rstrip("]").endswith(".") == (code in ANSWERS)
    assert not (code in ANSWERS and isinstance(SENTENCES[code], Doubt))


def test_every_message_that_is_made_has_a_sentence_and_every_sentence_is_of_one():
    sources = [x.read_text() for x in Path(be.__file__).parent.rglob("*.py")]
    codes_made = {x for text in sources for x in re.findall(r'Message\(\s*"([a-z0-9-]+)"', text)}
    assert codes_made <= SENTENCES.keys()
    written = [x for x in sources if "SENTENCES: dict" not in x]
    assert [x for x in SENTENCES if not any(f'"{x}"' in text for text in written)] == []


def test_part_of_an_answer_is_left_out_without_its_arguments(monkeypatch):
    monkeypatch.setitem(ANSWERS, "kept", "The {frr} is {rate:rate}[ of {people:count people}].")
    monkeypatch.setitem(SENTENCES, "kept", ANSWERS["kept"])
    sentences = [Message("kept", rate=0.1), Message("kept", rate=0.1, people=3)]
    assert [*map(Lines().message, sentences)] == [
        "The FRR is 10 %.",
        "The FRR is 10 % of 3 people.",
    ]


def test_threshold_of_a_sentence_decides_as_the_exact_one(monkeypatch):
    monkeypatch.setitem(ANSWERS, "at", "At {threshold:threshold}.")
    monkeypatch.setitem(SENTENCES, "at", ANSWERS["at"])
    answer = Message("at", threshold=-5.01712345, threshold_next=-5.0182)
    assert Lines().message(answer) == "At -5.018."


def test_names_of_users_are_not_translated():
    message = Message("one-gallery", column="FAR-net")
    assert "FAR-net" in Lines().message(message)


def test_messages_are_kept_with_what_they_are_about():
    message = Message("infinite-scores-left-out", attempts=2)
    about = message.concerning("B").concerning("A")
    assert about.about == ("A", "B") and messages_of(message_attrs([about, about])) == [about]
    attrs = message_attrs([about, message], {"messages": as_json([message])})
    assert attrs == {"messages": as_json([message, about])}


@pytest.mark.slow
def test_a_result_tells_its_messages():
    ds = be.verification(be.simulate(9, 3, random_state=1), far_targets=[0.01])
    (message,) = [x for x in be.messages(ds) if x.code == "target-not-supported"]
    assert message.arguments["have"] == {"people": 9} and "9 people" in message.sentence
