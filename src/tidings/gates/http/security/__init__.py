"""Security over HTTP: who asks, the endpoints of the authorisation server, and those of administrators."""
