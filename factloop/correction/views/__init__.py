"""Shows corrections on the terminal and as a page."""
