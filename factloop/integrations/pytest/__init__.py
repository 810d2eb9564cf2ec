"""The pytest plugin: assertions about model output, and recordings that replay without an API key."""
