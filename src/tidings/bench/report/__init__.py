"""Reports of a run: tables, charts, findings in words, a page of HTML, and output on the terminal."""
