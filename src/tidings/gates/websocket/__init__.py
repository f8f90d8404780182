"""The WebSocket gate: subscriptions in the Subscribe language, and updates and queries on the same connection.

    frame -> connection -> document -> conversation -> Broker        Parcel -> notification -> connection -> frame

gate          decides who may connect, and closes all connections at the end
connection    one socket: frames in, frames out; it does not know what messages mean
conversation  one client: requests in, answers out; it needs no socket
attendance    finds out who sends each message, and passes changes of rights to the subscriptions
upgrade       WebSockets that begin at the HTTP port
"""
