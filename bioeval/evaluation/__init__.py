"""The public calls: one task, a card, two systems, folds, gallery sizes."""
