"""The flags of each command, one module a command; the work stands in `factloop.cli`, imported when it is run."""
