"""The plugin: its options and what it does around each test. Loaded at every start of pytest, so it imports little."""
