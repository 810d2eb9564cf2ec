"""Reading and writing files: rows of tables, strict JSON, files written whole, files only their owner can read."""
