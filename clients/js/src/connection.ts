/**
 * A WebSocket that connects again whenever it breaks, and resumes all its subscriptions.
 *
 *     closed -> connecting -> open -> (lost) waiting -> connecting -> …       closed without subscriptions
 */

import { Unreachable } from "./errors.js";
import { type Dataset, type Notification, read, subscribeMessage, tokenMessage, unsubscribeMessage } from "./messages.js";
import { type Handlers, Subscription } from "./subscription.js";

export type ConnectionState = "closed" | "connecting" | "open" | "waiting";

/** What this module needs of a WebSocket. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null;
  onerror: (() => void) | null;
  send(text: string): void;
  close(): void;
}

/** Returns a token, or null without security; called for every new connection. */
export type TokenProvider = () => string | null | Promise<string | null>;

export interface ConnectionOptions {
  readonly open: () => Socket;
  readonly token?: TokenProvider;
  readonly state?: (state: ConnectionState) => void;
  /** Runs a function after some milliseconds; returns a function that cancels it. */
  readonly later?: (run: () => void, milliseconds: number) => () => void;
}

const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;

export class Connection {
  state: ConnectionState = "closed";
  private socket: Socket | null = null;
  private attempts = 0;
  private pause: (() => void) | null = null;
  private next = 0;
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly later: (run: () => void, milliseconds: number) => () => void;

  constructor(private readonly options: ConnectionOptions) {
    this.later = options.later ?? inTime;
  }

  subscribe(sparql: string, handlers: Handlers, dataset: Dataset): Subscription {
    this.next += 1;
    const subscription = new Subscription(sparql, `s${this.next}`, dataset, handlers, (ended) => this.release(ended));
    this.subscriptions.set(subscription.alias, subscription);
    if (this.state === "open") void this.begin(subscription);
    else if (this.state === "closed") this.connect();
    return subscription;
  }

  /** Send a new token before the old one expires. */
  async renew(): Promise<void> {
    const token = await this.options.token?.();
    if (token && this.state === "open") this.socket?.send(tokenMessage(token));
  }

  /** Connect now instead of after the pause, because the network is back. */
  hurry(): void {
    if (this.state !== "waiting") return;
    this.pause?.();
    this.connect();
  }

  close(): void {
    this.pause?.();
    for (const subscription of this.subscriptions.values()) subscription.end("closed");
    this.subscriptions.clear();
    this.drop();
    this.become("closed");
  }

  private connect(): void {
    this.become("connecting");
    const socket = this.options.open();
    this.socket = socket;
    socket.onopen = () => this.opened(socket);
    socket.onmessage = (event) => this.heard(String(event.data));
    socket.onclose = (event) => this.lost(socket, event.reason);
    socket.onerror = () => undefined; // a close event with the reason follows
  }

  private opened(socket: Socket): void {
    if (socket !== this.socket) return;
    this.attempts = 0;
    this.become("open");
    for (const subscription of this.subscriptions.values()) void this.begin(subscription);
  }

  private async begin(subscription: Subscription): Promise<void> {
    const socket = this.socket;
    const { sparql, alias, resume, dataset } = subscription;
    const token = (await this.options.token?.()) ?? null;
    if (socket !== this.socket || this.subscriptions.get(alias) !== subscription) return;
    socket?.send(subscribeMessage({ sparql, alias, ...dataset, ...(resume && { resume }), token }));
  }

  private heard(text: string): void {
    const message = read(text);
    switch (message.kind) {
      case "notification":
        return this.told(message.notification);
      case "unsubscribed":
        return this.ended(message.unsubscribed.spuid, message.unsubscribed.reason ?? "unsubscribed");
      case "error":
        return this.refused(message.error);
      case "response":
      case "unknown":
        return;
    }
  }

  private told(notification: Notification): void {
    const subscription = this.subscriptions.get(notification.alias ?? "");
    if (subscription) subscription.take(notification);
    else this.socket?.send(unsubscribeMessage(notification.spuid)); // its owner ended it before the first answer came
  }

  private ended(spuid: string, why: string): void {
    for (const subscription of this.subscriptions.values()) {
      if (subscription.spuid !== spuid) continue;
      this.subscriptions.delete(subscription.alias);
      subscription.end(why);
    }
    this.restIfIdle();
  }

  private refused(error: Parameters<Subscription["refuse"]>[0]): void {
    const subscription = this.subscriptions.get(error.alias ?? "");
    if (subscription === undefined) return;
    this.subscriptions.delete(subscription.alias);
    subscription.refuse(error);
    this.restIfIdle();
  }

  private release(subscription: Subscription): void {
    this.subscriptions.delete(subscription.alias);
    if (subscription.spuid && this.state === "open") this.socket?.send(unsubscribeMessage(subscription.spuid));
    this.restIfIdle();
  }

  private lost(socket: Socket, reason: string): void {
    if (socket !== this.socket) return;
    this.socket = null;
    for (const subscription of this.subscriptions.values()) subscription.leave();
    if (this.subscriptions.size === 0) return this.become("closed");
    this.become("waiting");
    this.attempts += 1;
    this.pause = this.later(() => this.connect(), pauseOf(this.attempts, reason));
  }

  /** Close the socket a moment after the last subscription has ended: a page often ends one and begins another. */
  private restIfIdle(): void {
    if (this.subscriptions.size > 0) return;
    this.later(() => {
      if (this.subscriptions.size > 0 || this.state !== "open") return;
      this.drop();
      this.become("closed");
    }, FIRST_PAUSE);
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  private become(state: ConnectionState): void {
    if (state === this.state) return;
    this.state = state;
    this.options.state?.(state);
  }
}

/** The pause before the next attempt: it doubles each time, with jitter, so that not all clients connect at once. */
function pauseOf(attempts: number, reason: string): number {
  const first = reason === "" ? FIRST_PAUSE : 2 * FIRST_PAUSE;
  return Math.min(LONGEST_PAUSE, first * 2 ** Math.min(attempts - 1, 10)) * (0.75 + Math.random() / 2);
}

function inTime(run: () => void, milliseconds: number): () => void {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
}

/** The sockets of a browser, or of Node 22 and later. */
export function webSocket(address: string): Socket {
  if (typeof WebSocket === "undefined") throw new Unreachable("there is no WebSocket here (Node has one from version 22); pass one to the client");
  return new WebSocket(address) as unknown as Socket;
}
