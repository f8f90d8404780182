"""The simulated smart-lighting city: the example of the SPS paper (2016, section II-D) as agents of an application.

people         simulates people who walk, and the readings of the presence sensors; knows no clock
tempo          converts between real time and simulated time, whose speed may change
lighting.jsap  the application profile: the updates and queries of sensors, lamps and the aggregator
lighting       the agents; read this first
town           the initial data of the city, and its graph
life           runs all agents, and starts them again after a failure
companion      starts the process of the city beside a broker
"""
