"""Security over HTTP: identification of clients, the endpoints of the authorisation server and of administrators."""
