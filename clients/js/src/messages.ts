/** The messages of the WebSocket protocol; the broker's documentation describes them. */

import { type ErrorEnvelope, isEnvelope } from "./errors.js";
import type { Row } from "./terms.js";

export interface Results {
  readonly head: { readonly vars?: readonly string[] };
  readonly results?: { readonly bindings: readonly Row[] };
  readonly boolean?: boolean;
}

export interface Notification {
  readonly spuid: string;
  readonly alias?: string;
  readonly sequence: number;
  readonly addedResults: Results;
  readonly removedResults: Results;
  readonly commit: number;
  /** Microseconds since 1970. */
  readonly time: number;
  readonly resumed?: boolean;
  /** The reason for the change, if it is not a change of the data. */
  readonly reason?: string;
}

export interface Unsubscribed {
  readonly spuid: string;
  readonly reason?: string;
}

export type Reply = Readonly<Record<string, unknown>> & { readonly alias?: string };

export type Incoming =
  | { readonly kind: "notification"; readonly notification: Notification }
  | { readonly kind: "unsubscribed"; readonly unsubscribed: Unsubscribed }
  | { readonly kind: "response"; readonly response: Reply }
  | { readonly kind: "error"; readonly error: ErrorEnvelope }
  | { readonly kind: "unknown" };

/** Parses a message of the broker; unknown messages are ignored. */
export function read(text: string): Incoming {
  const message = JSON.parse(text) as Readonly<Record<string, unknown>>;
  if (message["notification"]) return { kind: "notification", notification: message["notification"] as Notification };
  if (message["unsubscribed"]) return { kind: "unsubscribed", unsubscribed: message["unsubscribed"] as Unsubscribed };
  if (message["response"]) return { kind: "response", response: message["response"] as Reply };
  return isEnvelope(message) ? { kind: "error", error: message } : { kind: "unknown" };
}

/** The dataset of a request, instead of the one that its text names. */
export interface Dataset {
  readonly defaultGraphs?: readonly string[];
  readonly namedGraphs?: readonly string[];
}

export interface SubscribeRequest extends Dataset {
  readonly sparql: string;
  readonly alias: string;
  readonly resume?: { readonly spuid: string; readonly sequence: number };
  readonly token?: string | null;
}

export function subscribeMessage(request: SubscribeRequest): string {
  const { sparql, alias, resume, token, defaultGraphs, namedGraphs } = request;
  return JSON.stringify({
    subscribe: {
      sparql,
      alias,
      ...(resume && { resume }),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(defaultGraphs?.length && { "default-graph-uri": defaultGraphs }),
      ...(namedGraphs?.length && { "named-graph-uri": namedGraphs }),
    },
  });
}

export function unsubscribeMessage(spuid: string): string {
  return JSON.stringify({ unsubscribe: { spuid } });
}

/** The smallest message with a token: the subscriptions of the socket continue with its rights. */
export function tokenMessage(token: string): string {
  return JSON.stringify({ query: { sparql: "ASK {}", alias: "token", authorization: `Bearer ${token}` } });
}
