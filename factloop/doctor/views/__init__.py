"""Shows the findings of `factloop doctor` in the terminal."""
