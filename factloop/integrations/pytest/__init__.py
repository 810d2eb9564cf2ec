"""The pytest plugin: assertions about model output, and recordings that need no API key."""
