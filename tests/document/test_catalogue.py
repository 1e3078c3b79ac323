"""The catalogue of messages: each has a code and a sentence."""

import re
from pathlib import Path

import pytest

import bioeval as be
from bioeval.base.messages import Message, as_json, from_json, message_attrs
from bioeval.document.messages import SENTENCES
from bioeval.views.writers.lines import Lines


@pytest.mark.parametrize("code", SENTENCES)
def test_every_message_has_a_sentence(code):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    assert not SENTENCES[code].endswith(".")


def test_every_message_that_is_made_has_a_sentence_and_every_sentence_is_of_one():
    sources = [x.read_text() for x in Path(be.__file__).parent.rglob("*.py")]
    made = {x for text in sources for x in re.findall(r'Message\(\s*"([a-z0-9-]+)"', text)}
    assert made <= SENTENCES.keys()
    written = [x for x in sources if "SENTENCES: dict" not in x]
    assert [x for x in SENTENCES if not any(f'"{x}"' in text for text in written)] == []


def test_names_of_users_are_not_translated():
    message = Message("one-gallery", column="FAR-net")
    assert "FAR-net" in Lines("iso").message(message)


def test_messages_are_kept_with_what_they_are_about():
    one = Message("infinite-scores-left-out", attempts=2)
    about = one.concerning("B").concerning("A")
    assert about.about == ("A", "B") and from_json(as_json([about, about])) == [about]
    attrs = message_attrs([about, one], {"messages": as_json([one])})
    assert attrs == {"messages": as_json([one, about])}


@pytest.mark.slow
def test_a_result_tells_its_messages():
    ds = be.verification(be.simulate(9, 3, random_state=1), far_targets=[0.01])
    (message,) = [x for x in be.messages(ds) if x.code == "target-not-supported"]
    assert message.arguments["have"] == {"people": 9} and "9 people" in message.sentence
