"""The WebSocket gate: the Subscribe language, and updates and queries for publishers in a hurry.

    frame -> connection -> document -> conversation -> Broker        Parcel -> notification -> connection -> frame

gate          who may connect, and an end for all connections
connection    one socket: frames in, frames out; it knows no message
conversation  one client: requests in, answers out; it knows no socket
attendance    who speaks, message by message, and what becomes of their subscriptions
"""
