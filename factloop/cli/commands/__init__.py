"""The flags of each command, a module each; the work behind them stands in `factloop.cli`, imported when it is run."""
