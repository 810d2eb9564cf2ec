"""One module per format, named after the format's number."""
