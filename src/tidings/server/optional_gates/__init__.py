"""Gates that are off until a setting switches them on.

settings   every setting of them, a group a gate
opening    which gates there are, and which of them the settings switch on
The other modules make one gate each of its settings; what a gate needs is imported only if it is switched on.
"""
