"""The messages of the core, for the catalogue."""

from __future__ import annotations

from bioeval.base.messages import MessageType

CORE: tuple[MessageType, ...] = ()
