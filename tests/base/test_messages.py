"""Messages about results, as values that are compared and kept."""

from bioeval.base.errors import Message, as_json, from_json


def test_equal_messages_have_equal_hashes_and_are_kept_once():
    message = Message("no-attempt", what="genuine attempt", rates=["gar", "frr"])
    same = Message("no-attempt", rates=["gar", "frr"], what="genuine attempt")
    assert message == same and hash(message) == hash(same)
    assert from_json(as_json([message, same])) == [message]
    as_tuple = Message("no-attempt", what="genuine attempt", rates=("gar", "frr"))
    assert from_json(as_json([message, as_tuple])) == [message]
