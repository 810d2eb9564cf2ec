"""Records, errors, events, figures and file formats that all other packages use. Imports nothing else from factloop."""
