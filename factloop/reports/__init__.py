"""Shows checks, scores and corrections on the terminal and as pages. Contains the code that all pages share."""
