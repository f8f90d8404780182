"""The client for applications: requests to a broker, live answers, and agents from a profile.

connection    connect, query, update, schedule, prepare, subscribe; read this first
subscription  a live answer, and its changes
answers       the answers of a broker as types for applications
terms         RDF terms as typed strings, and Python values
endpoint      any SPARQL endpoint over HTTP
http          HTTP clients for brokers and stores
login         credentials and tokens, for a broker with security
trust         certificate authorities and certificates for TLS
sync          the client without `await`
jsap          application profiles
agents        producers, consumers, aggregators
"""

from tidings.client.agents import Aggregator, Application, Consumer, Producer, SequentialAggregator
from tidings.client.answers import Answer, Committed, Row, Scheduled
from tidings.client.connection import Connection, Prepared, connect
from tidings.client.endpoint import Endpoint
from tidings.client.errors import (
    BadCredentials,
    CannotConnect,
    CannotTrust,
    ConnectionLost,
    NoAnswer,
    NotUnderstood,
    Refused,
)
from tidings.client.jsap.profile import Jsap, load
from tidings.client.login.credentials import Credentials, CredentialsFile, Token
from tidings.client.subscription import Change, Subscription
from tidings.client.terms import IRI, BNode, Literal
from tidings.client.trust import Trust

__all__ = [
    "IRI",
    "Aggregator",
    "Answer",
    "Application",
    "BNode",
    "BadCredentials",
    "CannotConnect",
    "CannotTrust",
    "Change",
    "Committed",
    "Connection",
    "ConnectionLost",
    "Consumer",
    "Credentials",
    "CredentialsFile",
    "Endpoint",
    "Jsap",
    "Literal",
    "NoAnswer",
    "NotUnderstood",
    "Prepared",
    "Producer",
    "Refused",
    "Row",
    "Scheduled",
    "SequentialAggregator",
    "Subscription",
    "Token",
    "Trust",
    "connect",
    "load",
]
