"""Gates that are off until a setting switches them on.

settings   the settings of these gates, a group for each
opening    the list of these gates; builds those that the settings switch on
Each other module builds one gate by its settings, and imports the gate's code only if the gate is switched on.
"""
