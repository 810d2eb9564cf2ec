"""The foundation of every floor: records, errors, events, figures and files. Imports nothing else of factloop."""
