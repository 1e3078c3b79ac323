"""The public calls: one task, a card, rates at a threshold."""
