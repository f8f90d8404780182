/** One subscription: its live answer, and the calls of its owner's functions. It survives broken connections. */

import { BrokerError, type ErrorEnvelope } from "./errors.js";
import type { Dataset, Notification } from "./messages.js";
import { type Folded, Rows } from "./rows.js";

/** waiting: no first answer yet; live: gets every change; away: the connection is broken; ended: over. */
export type SubscriptionState = "waiting" | "live" | "away" | "ended";

/** A change of an answer. If `whole`, its rows replace all earlier ones. */
export interface Change extends Folded {
  readonly notification: Notification;
  readonly whole: boolean;
}

export interface Handlers {
  readonly change?: (change: Change) => void;
  readonly state?: (state: SubscriptionState, why: string) => void;
  readonly error?: (error: BrokerError) => void;
}

export class Subscription {
  rows = new Rows([]);
  state: SubscriptionState = "waiting";
  spuid: string | null = null;
  sequence = -1;

  constructor(
    readonly sparql: string,
    readonly alias: string,
    readonly dataset: Dataset,
    private readonly handlers: Handlers,
    private readonly release: (subscription: Subscription) => void,
  ) {}

  /** The position from which to resume after an interruption. */
  get resume(): { readonly spuid: string; readonly sequence: number } | undefined {
    return this.spuid === null ? undefined : { spuid: this.spuid, sequence: this.sequence };
  }

  take(notification: Notification): void {
    if (this.state === "ended") return;
    const whole = this.spuid !== notification.spuid;
    if (!whole && notification.sequence <= this.sequence) return; // received before the connection broke
    if (whole) this.rows = new Rows(notification.addedResults.head.vars ?? []);
    this.spuid = notification.spuid;
    this.sequence = notification.sequence;
    const folded = this.rows.fold(
      notification.addedResults.results?.bindings ?? [],
      notification.removedResults.results?.bindings ?? [],
    );
    this.become("live", notification.resumed ? "resumed" : "");
    this.handlers.change?.({ ...folded, notification, whole });
  }

  refuse(envelope: ErrorEnvelope): void {
    this.become("ended", envelope.error_description);
    this.handlers.error?.(new BrokerError(envelope));
  }

  /** The connection broke. The next notification is the whole answer, or the first missed one. */
  leave(): void {
    if (this.state === "live") this.become("away", "the connection was lost");
  }

  end(why: string): void {
    this.become("ended", why);
  }

  /** End it, here and at the broker. */
  unsubscribe(): void {
    if (this.state === "ended") return;
    this.release(this);
    this.become("ended", "unsubscribed");
  }

  private become(state: SubscriptionState, why: string): void {
    if (state === this.state) return;
    this.state = state;
    this.handlers.state?.(state, why);
  }
}
