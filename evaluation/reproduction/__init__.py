"""`factloop reproduce`: every table and figure of the three papers, theirs beside ours."""
