/** A client of one broker: requests over HTTP, subscriptions over one WebSocket, which the first subscription opens. */

import { Connection, type ConnectionState, type Socket, type TokenProvider, webSocket } from "./connection.js";
import { type Asked, type Committed, Http, type UpdateOptions } from "./http.js";
import type { Dataset, Results } from "./messages.js";
import type { Handlers, Subscription } from "./subscription.js";
import type { Row } from "./terms.js";

export interface ClientOptions {
  readonly token?: TokenProvider;
  /** Called whenever the WebSocket opens, breaks or waits. */
  readonly connection?: (state: ConnectionState) => void;
  readonly fetch?: typeof fetch;
  readonly open?: (address: string) => Socket;
}

export class Tidings {
  readonly http: Http;
  readonly connection: Connection;

  /** `address` is the HTTP address of the broker: `http://localhost:8000`. */
  constructor(address: string, options: ClientOptions = {}) {
    const base = address.endsWith("/") ? address : `${address}/`;
    const token = options.token ? { token: options.token } : {};
    this.http = new Http({ base, ...token, ...(options.fetch && { fetch: options.fetch }) });
    const open = options.open ?? webSocket;
    this.connection = new Connection({
      open: () => open(socketAddress(base)),
      ...token,
      ...(options.connection && { state: options.connection }),
    });
  }

  /** The present answer to a query. */
  query(sparql: string, asked: Asked = {}): Promise<Results> {
    return this.http.query(sparql, asked);
  }

  /** The rows of a SELECT. */
  async select(sparql: string, asked: Asked = {}): Promise<readonly Row[]> {
    return (await this.query(sparql, asked)).results?.bindings ?? [];
  }

  update(sparql: string, options: UpdateOptions = {}): Promise<Committed> {
    return this.http.update(sparql, options);
  }

  /** Subscribe to a query: its answer, then every change. The subscription survives broken connections. */
  subscribe(sparql: string, handlers: Handlers, dataset: Dataset = {}): Subscription {
    return this.connection.subscribe(sparql, handlers, dataset);
  }

  close(): void {
    this.connection.close();
  }
}

/** The address for subscriptions: `/subscribe` at the HTTP address. */
export function socketAddress(base: string): string {
  const address = new URL("subscribe", base);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}
