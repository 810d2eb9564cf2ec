"""`factloop doctor` on the terminal."""
