"""The entries of the registry, a module for each family of tables that are computed alike."""
