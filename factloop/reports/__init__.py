"""Shows checks, scores and corrections on the terminal and as pages, and contains the parts that all pages share."""
