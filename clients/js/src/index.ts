/** Query, update and subscribe to a Tidings broker. */

export { type ClientOptions, Tidings, socketAddress } from "./client.js";
export { Connection, type ConnectionState, type Socket, type TokenProvider } from "./connection.js";
export { BrokerError, type ErrorEnvelope, Unreachable } from "./errors.js";
export { type Asked, type Checked, type Committed, Http, type UpdateOptions } from "./http.js";
export type { Dataset, Notification, Results } from "./messages.js";
export { type Entry, type Folded, Rows } from "./rows.js";
export { type Change, type Handlers, Subscription, type SubscriptionState } from "./subscription.js";
export { type BlankNode, type Iri, type Literal, type Row, type Term, XSD, rowKey, termKey, written } from "./terms.js";
