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


@pytest.mark.parametrize(
    ("sentence", "arguments", "text"),
    [
        # A part is left out without its arguments.
        ("The {frr} is {rate:rate}[ of {people:count people}].", {"rate": 0.1}, "The FRR is 10 %."),
        ("{rate:rate}[ of {people:count people}]", {"rate": 0.1, "people": 3}, "10 % of 3 people"),
        # A threshold decides as the exact one does.
        ("{at:threshold}", {"at": -5.01712345, "at_next": -5.0182}, "-5.018"),
        ("{name:name}", {"name": "FAR-net"}, "FAR-net"),  # not translated
        ("{x:count people}", {"x": 1.0}, "1 person"),
        ("{x:count people}", {"x": 2.0}, "2 people"),
        ("{x:rate}", {"x": 1 - 2**-52}, "100 %"),  # a mean of ones, by sums of floats
        ("{x:rate}", {"x": 2**-60}, "0 %"),
        ("{x:rate}", {"x": 1 - 1e-9}, "99.9999999 %"),
    ],
)
def test_a_sentence_is_written_with_its_arguments(sentence, arguments, text, monkeypatch):
    monkeypatch.setitem(SENTENCES, "kept", sentence)
    assert Lines().message(Message("kept", **arguments)) == text


def test_messages_are_kept_with_what_they_are_about():
    message = Message("infinite-scores-left-out", attempts=2)
    about = message.concerning("B").concerning("A")
    assert about.about == ("A", "B") and messages_of(message_attrs([about, about])) == [about]
    attrs = message_attrs([about, message], {"messages": as_json([message])})
    assert attrs == {"messages": as_json([message, about])}
