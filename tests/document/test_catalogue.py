"""The catalogue of messages: each has a page, and a sentence in both vocabularies."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

import bioeval as be
from bioeval.base.messages import Message, as_json, from_json, message_attrs, messages_of
from bioeval.cli.lazy_group import root
from bioeval.document import catalogue, page_of, sentence_of
from bioeval.views.writers.lines import Lines

LECTURE = re.compile(r"\b(FAR|FRR|GAR|GRR|DIR|CMS|false accepts?|false rejects?)\b")


@pytest.mark.parametrize("code", catalogue())
def test_every_message_has_a_page_in_both_vocabularies(code):
    entry = catalogue()[code]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    assert entry.severity in ("ok", "note", "warning", "error")
    assert entry.example is not None, (
        f"{code} has no example. CONTRIBUTING.md, 'Rules', Pages: an example of each message is on "
        "the page of messages"
    )
    message = Message(code, **entry.example)
    assert messages_of({"messages": as_json([message])}) == [message], "arguments are plain values"
    for vocabulary in ("lecture", "iso"):
        lines = Lines(vocabulary)
        sentence = lines.message(message)
        assert sentence == lines.write(sentence_of(message)) == lines.write(page_of(entry).example)
        assert not sentence.endswith(".") and "{" not in sentence
        for text in map(lines.write, page_of(entry)[1:]):
            assert (text[0].isupper() or text.startswith("pAUC")) and text.endswith(".")
            assert vocabulary == "lecture" or not LECTURE.search(f"{text} {sentence}")


def test_names_of_users_are_not_translated():
    message = Message("one-gallery", column="FAR-net")
    assert "FAR-net" in Lines("iso").message(message)


def test_messages_are_kept_with_what_they_are_about():
    one = Message("one-subject")
    about = one.concerning("B").concerning("A")
    assert about.about == ("A", "B") and from_json(as_json([about, about])) == [about]
    attrs = message_attrs([about, one], {"messages": as_json([one])})
    assert attrs == {"messages": as_json([one, about])}


def test_the_command_explains_a_message():
    def run(*words: str) -> str:
        done = CliRunner().invoke(root, ["explain-message", *words], catch_exceptions=False)
        assert done.exit_code == 0
        return done.stdout

    listed = run().splitlines()
    assert set(catalogue()) <= set(listed)
    page = json.loads(run("too-few-people", "--json"))
    assert page["severity"] == "warning" and page["arguments"]["people"] == 40
    assert page["meaning"].split()[0] in run("too-few-people")
    assert "FNMR" in run("too-few-people", "--terms", "iso")
    wrong = CliRunner().invoke(root, ["explain-message", "too-few-peple"])
    assert wrong.exit_code == 2 and "Did you mean 'too-few-people'?" in wrong.output


def test_a_result_tells_its_messages():
    ds = be.verification(be.simulate(9, 3, random_state=1), far_targets=[0.01])
    (message,) = [x for x in be.messages(ds) if x.code == "too-few-pairs-of-people"]
    assert message.arguments["people"] == 9 and "9 people" in message.sentence
