"""The smart-lighting city, alive: the example of the SPS paper (2016, section II-D) as agents of an application.

people         who walks where, and what the presence sensors notice of it; knows no clock
tempo          how fast the street's time passes, which may change
lighting.jsap  the application profile: what sensors, lamps and the aggregator publish and ask
lighting       the agents; read this first
town           the city as it is before anybody walks, and where it is kept
life           all of it at work, also after an interruption
companion      the process in which it lives beside a broker
"""
