"""The file of settings in the working directory."""

SETTINGS_FILE = "factloop.toml"
