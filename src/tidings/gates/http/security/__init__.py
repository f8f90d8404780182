"""Security over HTTP: the endpoints of the authorisation server."""
