"""Contains the code that all views of checks, scores and corrections share, in the terminal and on pages."""
