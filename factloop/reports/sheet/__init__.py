"""Tables that are said once: `table` holds what they say, `terminal`, `csv` and the pages' `sheet.html.j2` show it."""
