"""factloop for pytest: assertions about model output, and recordings that need no key."""
