"""Application profiles (JSAP): the updates and queries of an application by name, read, checked and bound."""

from tidings.client.jsap.mistakes import BadProfile
from tidings.client.jsap.profile import Jsap, load

__all__ = ["BadProfile", "Jsap", "load"]
