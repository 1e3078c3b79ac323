"""The sentences of messages: one file for each study, and `core` for every evaluation."""
