"""Shows corrections in the terminal and as HTML pages."""
