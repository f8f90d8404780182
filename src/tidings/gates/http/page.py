"""The page for people: a query, its answer as a table. It needs nothing from anywhere else."""

from importlib.resources import files

HTML = files(__package__).joinpath("page.html").read_text("utf-8")

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""Content-Security-Policy: whatever the data says, nothing but this page's own script runs."""
