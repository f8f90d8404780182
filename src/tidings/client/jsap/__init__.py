"""Application profiles (JSAP): reads and checks the named updates and queries of an application, and binds values."""

from tidings.client.jsap.mistakes import BadProfile
from tidings.client.jsap.profile import Jsap, load

__all__ = ["BadProfile", "Jsap", "load"]
