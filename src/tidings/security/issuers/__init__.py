"""External issuers: OpenID Connect providers whose tokens count here as well.

provider   one of them: its keys, kept and refreshed; what its claims mean here
fetching   its documents, over HTTP
"""
