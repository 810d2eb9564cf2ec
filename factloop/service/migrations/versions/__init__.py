"""One module for each format, named after its number."""
