"""Shows the findings of `factloop doctor` on the terminal."""
