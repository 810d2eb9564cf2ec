"""Defines tables once: `table` has their contents, and `terminal`, `csv` and the pages' `sheet.html.j2` show them."""
