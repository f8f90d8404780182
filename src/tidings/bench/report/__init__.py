"""A run for people: tables, charts, findings in words, a page of HTML, and the terminal."""
