"""Who fails: goats, lambs and wolves, and the animals of the menagerie."""
