"""Listings 12 to 18 of "Dynamic Linked Data: A SPARQL Event Processing Architecture" (2018), as profiles that load.

What is printed is not JSON everywhere. Every mending is noted where it was made; these hold for all listings:
- remarks in parentheses, `(optional)`, are not part of the document;
- `{...}` and `"..."` stand for content left out, and have some here;
- the line breaks inside of strings are spaces.
"""

from typing import Any

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

# Listing 13. Mended: the commas missing after "method": "POST", after the object of query, and after
# "method": "URLENCODED_POST".
SPARQL11PROTOCOL: dict[str, Any] = {
    "host": "endpoint.example.org",
    "protocol": "http",
    "port": 8000,
    "query": {"path": "/query", "method": "POST", "format": "JSON"},
    "update": {"path": "/update", "method": "URLENCODED_POST", "format": "HTML"},
}

# Listing 14. Mended: "Choose one among the available protocols" and "protocolID-1" are filled in.
SPARQL11SEPROTOCOL: dict[str, Any] = {
    "host": "events.example.org",
    "protocol": "wss",
    "availableProtocols": {"ws": {"port": 9000, "path": "/subscribe"}, "wss": {"port": 9443, "path": "/subscribe"}},
    "security": {"register": "/oauth/register"},
}

# Listing 15. Mended: "SPARQL Update or Query" is filled in, and so are the names of the variables.
PRIMITIVE: dict[str, Any] = {
    "sparql": "INSERT DATA { ?lamp prefix-1:says ?words }",
    "forcedBindings": {
        "words": {"type": "literal", "value": "hello"},
        "lamp": {"type": "uri", "value": "prefix-N:lamp"},
    },
    "sparql11protocol": {"port": 8001},
    "sparql11seprotocol": {"protocol": "ws"},
    "graphs": {"using-graph-uri": "http://example.org/g"},
}

# Listing 12. Mended: the closing brace too many after sparql11seprotocol; the namespace URIs are filled in.
STRUCTURE: dict[str, Any] = {
    "host": "broker.example.org",
    "sparql11protocol": SPARQL11PROTOCOL,
    "sparql11seprotocol": SPARQL11SEPROTOCOL,
    "namespaces": {"prefix-1": "http://example.org/one#", "prefix-N": "http://example.org/n#"},
    "graphs": {
        "default-graph-uri": "http://example.org/a",
        "named-graph-uri": "http://example.org/b",
        "using-graph-uri": "http://example.org/c",
        "using-named-graph-uri": "http://example.org/d",
    },
    "updates": {"IDENTIFIER": PRIMITIVE},
    "queries": {},
    "extended": {},
}

# Listing 16. Mended: the comma missing after sparql11seprotocol; the braces missing at the end of namespaces, of the
# forced bindings' primitives and of updates (SEND, SET_RECEIVED, REMOVE, SENT, updates) and of the whole.
CHAT = r"""{"host": "localhost",
"sparql11protocol": {},
"sparql11seprotocol": {},
"namespaces": {
"schema" : "http://schema.org/" ,
"rdf" : "http://www.w3.org/1999/02/22-rdf-syntax-ns#"},
"updates": {
"SEND": {"sparql" : "INSERT {?message rdf:type schema:Message ; schema:text ?text ; schema:sender ?sender ; schema:toRecipient ?receiver; schema:dateSent ?time} WHERE {?sender rdf:type schema:Person . ?receiver rdf:type schema:Person BIND (STR(now()) AS ?time) BIND (IRI (CONCAT(\"http://schema.org/Message-\", STRUUID())) AS ?message)}",
"forcedBindings": {
"text": {"type": "literal"} ,
"sender": {"type": "uri"} ,
"receiver": {"type": "uri"}}},
"SET_RECEIVED": {"sparql" : "INSERT {?message schema:dateReceived ?time} WHERE {?message rdf:type schema:Message BIND (STR(now()) AS ?time)}",
"forcedBindings": {
"message": {"type": "uri"}}},
"REMOVE": {"sparql" : "DELETE {?message ?p ?o} WHERE {?message rdf:type schema:Message . ?message ?p ?o}",
"forcedBindings": {
"message": {"type": "uri"}}}},
"queries": {
"SENT": {"sparql" : "SELECT ?message ?sender ?name ?text ?time WHERE {?message rdf:type schema:Message ; schema:text ?text ; schema:sender ?sender ; schema:toRecipient ?receiver ; schema:dateSent ?time . ?sender rdf:type schema:Person ; schema:name ?name . ?receiver rdf:type schema:Person} ORDER BY ?time",
"forcedBindings": {
"receiver": {"type": "uri"}}},
"RECEIVED": {"sparql" : "SELECT ?message ?time WHERE {?message schema:sender ?sender ; schema:dateReceived ?time ; rdf:type schema:Message}",
"forcedBindings": {
"sender": {"type": "uri"}}}}}
"""  # noqa: E501

# Listing 17. Mended: the dots for further mappings are left out; the whole goes into `extended`, as the text says.
MAPPING: dict[str, Any] = {
    "semantic-mappings": {
        "pepoli/6lowpan/network/NOD01/Temperature": {
            "observation": "arces-monitor:Pepoli-6lowpan-Nod01-Temperature",
            "unit": "qudt-unit-1-1:DegreeCelsius",
            "location": "arces-monitor:Star",
            "comment": "Server room temperature---Viale Pepoli (6LowPan)",
            "label": "Server room temperature",
        }
    }
}

# Listing 18. Mended: {Monitoring data store parameters} and {Big data store parameters} are filled in; the braces
# missing at the end of namespaces, after "updates":, and at the end of each primitive, of updates and of the whole;
# `\ "` is `\"`; the quote between the last two braces of ADD_OBSERVATION is left out; the string that breaks after
# "QuantityValue-" does not; the closing quote of "arces-monitor:QuantityValue-" is escaped.
MQTT = r"""{"host": "localhost",
"sparql11protocol": {"port": 8000},
"sparql11seprotocol": {"protocol": "ws", "availableProtocols": {"ws": {"port": 9000, "path": "/subscribe"}}},
"namespaces": {
"rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
"rdfs": "http://www.w3.org/2000/01/rdf-schema#",
"sosa": "http://www.w3.org/ns/sosa/",
"qudt-1-1": "http://qudt.org/1.1/schema/qudt#",
"qudt-unit-1-1": "http://qudt.org/1.1/vocab/unit#",
"arces-monitor": "http://mml.arces.unibo.it/monitor#",
"time": "http://www.w3.org/2006/time#"},
"updates": {
"ADD_OBSERVATION" : {"sparql" : "DELETE {?observation ?p ?o . ?q ?pl ?ol} INSERT {?observation rdf:type sosa:Observation ; rdfs:label ?label ; rdfs:comment ?comment ; sosa:hasFeatureOfInterest ?location ; arces-monitor:hasMqttTopic ?topic; sosa:hasResult ?quantity . ?quantity rdf:type qudt-1-1:QuantityValue ; qudt-1-1:unit ?unit} WHERE{ BIND (IRI (CONCAT (\"http://mml.arces.unibo.it/monitor#QuantityValue-\", STRUUID ())) AS ?quantity) . OPTIONAL {?observation rdf:type sosa:Observation ; ?p ?o ; sosa:hasResult ?q . ?q ?pl ?ol }}",
"forcedBindings": { "observation": {"type": "uri"},
"comment": {"type": "literal"}, "label": {"type": "literal"},
"location": {"type": "uri"}, "topic": {"type": "literal"},
"unit": {"type": "uri"}}},
"UPDATE_VALUE" : {"sparql" : "DELETE {?quantity qudt-1-1:numericValue ?oldValue} INSERT {?quantity qudt-1-1:numericValue ?value} WHERE {?observation rdf:type sosa:Observation ; sosa:hasResult ?quantity . OPTIONAL {?quantity qudt-1-1:numericValue ?oldValue}}",
"forcedBindings": {"observation": {"type": "uri"},
"value": {"type": "literal"}}},
"STORE_OBSERVATION": {"sparql": "INSERT {?observation rdf:type sosa:Observation ; sosa:hasResult ?quantity . ?quantity rdf:type qudt-1-1:QuantityValue ; qudt-1-1:unit ?unit ; qudt-1-1:numericValue ?value; time:hasTime ?instant . ?instant rdf:type time:Instant ; time:inXSDDateTimeStamp ?time} WHERE{ BIND (IRI (CONCAT (\"arces-monitor:QuantityValue-\", STRUUID ())) AS ?quantity) BIND (IRI (CONCAT (\"http://www.w3.org/2006/time#Instant\", STRUUID ())) AS ?instant) BIND (STR (now ()) AS ?time)}",
"forcedBindings": { "observation": {"type": "uri"}, "unit": {"type": "uri"},
"value": {"type": "literal"}},
"sparql11protocol": {"host": "bigdata.example.org", "port": 9999, "update": {"path": "/sparql"}}}},
"queries": {
"TOPICS" : {"sparql" : "SELECT ?observation ?topic WHERE {?observation rdf:type sosa:Observation ; arces-monitor:hasMqttTopic ?topic}"},
"OBSERVATIONS_VALUES" : {"sparql" : " SELECT ?observation ?location ?quantity ?label ?value ?unit WHERE {?observation rdf:type sosa:Observation ; rdfs:label ?label ; sosa:hasFeatureOfInterest ?location ; sosa:hasResult ?quantity . ?quantity rdf:type qudt-1-1:QuantityValue ; qudt-1-1:unit ?unit ; qudt-1-1:numericValue ?value}"}
}}
"""  # noqa: E501
