"""The foundation of all layers: records, errors, events, figures and files. It imports nothing else from factloop."""
