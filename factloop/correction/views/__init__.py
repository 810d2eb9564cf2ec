"""Shows corrections on the terminal and as HTML pages."""
