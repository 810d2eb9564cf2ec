"""factloop in pytest: assertions on what a model wrote, and recordings that need no key."""
