"""Code shared by everything that shows checks, scores and corrections, in the terminal and as pages."""
