"""Connects factloop to other programs. The integrations have no logic of their own."""
