"""Corrects or removes unsupported content in a response, and checks the new text."""
