"""The records, errors, events and file formats that all other packages use. Imports nothing else from factloop."""
