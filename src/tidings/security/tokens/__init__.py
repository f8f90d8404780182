"""Access tokens: JSON Web Tokens (RFC 7519, RFC 9068).

compact        the text of a token as values, read strictly; nothing in it is believed yet
claims         what a token must say, and when
issuing        our own tokens
verification   a token to a passport: by issuer, key, signature and claims; remembered while it counts
revocation     tokens that do not count although they have not expired
"""
