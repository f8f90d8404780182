"""A small built-in taxonomy for sensors in cities, buildings and grids."""

from collections.abc import Iterator

from tidings.matching.taxonomy.topics import Taxonomy, Topic, taxonomy

_TOPICS = {
    "transport": {
        "parking": "car park, parking space, parking lot, garage",
        "traffic": "road traffic, traffic jam, congestion, vehicle count",
        "public transport": "bus, train, tram, metro, station, stop, timetable",
        "vehicle": "car, lorry, van, bicycle, scooter, fleet",
        "road": "street, lane, motorway, bridge, tunnel, roadworks",
        "speed": "velocity, acceleration, speed limit",
        "navigation": "route, journey, destination, direction, map",
    },
    "environment": {
        "air quality": "air pollution, particles, ozone, nitrogen dioxide, carbon monoxide, smog",
        "noise": "sound level, loudness, acoustics",
        "water": "river, lake, sea, flood, water level, drinking water",
        "soil": "ground, earth, moisture, agriculture, crop, irrigation",
        "radiation": "solar radiation, ultraviolet, radioactivity",
        "waste": "rubbish, garbage, bin, recycling, sewage",
        "nature": "plant, tree, forest, park, animal, wildlife",
    },
    "weather": {
        "temperature": "heat, cold, warmth, degree, frost",
        "wind": "breeze, storm, gust, wind speed, wind direction",
        "rain": "precipitation, snow, hail, shower, fog",
        "humidity": "moisture, dew point, dampness",
        "pressure": "atmospheric pressure, barometer",
        "climate": "season, forecast, sky, cloud, sunshine",
    },
    "energy": {
        "electricity": "power, voltage, current, socket, circuit, electric meter",
        "energy consumption": "energy usage, demand, load, saving, kilowatt hour",
        "energy generation": "solar panel, wind turbine, power plant, generator",
        "battery": "charge, storage, accumulator, charging station",
        "heating": "boiler, radiator, thermostat, heat pump",
        "cooling": "air conditioning, ventilation, refrigeration, fan",
        "fuel": "gas, oil, petrol, coal, hydrogen",
    },
    "building": {
        "room": "office, kitchen, bedroom, corridor, floor, desk",
        "lighting": "lamp, light, bulb, street light, brightness, dimming",
        "door": "window, gate, lock, entrance, lift",
        "occupancy": "presence, motion, vacancy, occupied, empty",
        "appliance": "washing machine, oven, refrigerator, television, coffee machine",
        "construction": "material, wall, roof, maintenance, repair",
    },
    "computing": {
        "computer": "laptop, server, desktop, workstation, printer",
        "processor": "cpu usage, memory usage, disk, load",
        "network": "internet, wireless, connection, bandwidth, router, signal",
        "device": "sensor, actuator, gateway, controller, meter, firmware",
        "data": "measurement, reading, event, message, record, statistics",
        "fault": "error, failure, alarm, warning, outage, defect",
    },
    "safety": {
        "fire": "smoke, flame, explosion, fire brigade",
        "accident": "crash, collision, injury, emergency, rescue",
        "crime": "theft, burglary, intrusion, police, security",
        "health": "hospital, patient, disease, heart rate, medicine",
    },
    "society": {
        "person": "people, crowd, visitor, resident, employee",
        "business": "company, shop, market, price, payment, money",
        "event": "concert, meeting, festival, sport, ceremony",
        "administration": "government, council, law, permit, service",
        "education": "school, university, library, museum",
        "food": "restaurant, meal, drink, cooking",
    },
    "place": {
        "city": "town, village, suburb, district, neighbourhood",
        "country": "nation, state, republic, ireland, spain, france, germany, england",
        "continent": "europe, africa, asia, america, australia",
        "location": "position, coordinate, latitude, longitude, zone, area",
        "landscape": "mountain, hill, valley, island, coast, beach",
    },
    "measure": {
        "time": "date, hour, minute, day, duration, timestamp",
        "quantity": "number, count, amount, level, value, scale, maximum, minimum",
        "unit": "metre, litre, kilogram, percent, watt, celsius",
        "status": "state, condition, increase, decrease, on, off, active",
        "identity": "name, identifier, label, type, kind, category",
    },
}


def built_in() -> Taxonomy:
    return taxonomy("the built-in taxonomy", _topics())


def _topics() -> Iterator[Topic]:
    for field, topics in _TOPICS.items():
        yield Topic(field, field)
        for label, alternatives in topics.items():
            yield Topic(f"{field}/{label}", label, tuple(alternatives.split(", ")), field)
