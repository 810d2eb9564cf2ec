"""The foundation of every layer: records, errors, events, figures and files. Imports nothing else of factloop."""
