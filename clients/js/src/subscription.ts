/** One subscription: its answer, kept up to date, and what its owner is told. It survives the connections it goes over. */

import { BrokerError, type ErrorEnvelope } from "./errors.js";
import type { Dataset, Notification } from "./messages.js";
import { type Folded, Rows } from "./rows.js";

/** waiting: no first answer yet; live: told of every change; away: the connection is being made again; ended: over. */
export type SubscriptionState = "waiting" | "live" | "away" | "ended";

/** A change of an answer. `whole` means that the rows of before, if any, are void. */
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

  /** Where to go on after an interruption. */
  get resume(): { readonly spuid: string; readonly sequence: number } | undefined {
    return this.spuid === null ? undefined : { spuid: this.spuid, sequence: this.sequence };
  }

  take(notification: Notification): void {
    if (this.state === "ended") return;
    const whole = this.spuid !== notification.spuid;
    if (!whole && notification.sequence <= this.sequence) return; // seen before the connection broke
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

  /** The connection is gone; what comes next is the whole answer, or what was missed. */
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
