"""The commands of `factloop research`, one module each."""
