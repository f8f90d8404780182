"""Targets that the suite starts and stops itself: processes, Tidings, Oxigraph, Virtuoso."""
