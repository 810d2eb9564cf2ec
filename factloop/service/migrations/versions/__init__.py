"""One module for each format, named after the number of the format."""
