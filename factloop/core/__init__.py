"""What every floor stands on: records, errors, events, figures and files. Imports nothing else of factloop."""
