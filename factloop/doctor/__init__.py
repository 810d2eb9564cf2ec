"""Reports which configured parts work, in which modes and with which limits, and how to fix the others."""
