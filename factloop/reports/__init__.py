"""Views of checks, scores and corrections on the terminal and as pages, and the parts that every page shares."""
