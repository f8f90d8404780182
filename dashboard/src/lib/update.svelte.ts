/** The update that the user is writing: rehearsed first, then published, at once or later. */

import { BrokerError, type Committed } from "tidings-client";

import { broker, told } from "./broker.svelte";
import type { Fault } from "./tabs.svelte";

export interface Quad {
  readonly s: string;
  readonly p: string;
  readonly o: string;
  readonly g: string;
}

export interface Rehearsal {
  readonly added: number;
  readonly removed: number;
  readonly add: readonly Quad[];
  readonly remove: readonly Quad[];
}

export interface Waiting {
  readonly delayed: string;
  readonly at: string;
  readonly sparql: string;
}

export class Draft {
  text = $state("");
  delay = $state("");
  busy = $state(false);
  fault = $state.raw<Fault | null>(null);
  rehearsal = $state.raw<Rehearsal | null>(null);
  done = $state.raw<Committed | null>(null);

  constructor(text: string) {
    this.text = text;
  }

  rehearse(): Promise<void> {
    return this.attempt(async () => {
      const body = new URLSearchParams({ update: this.text, "dry-run": "true" });
      const answer = await broker.json<{ readonly response: Rehearsal }>("update", { method: "POST", body });
      this.rehearsal = answer.response;
    });
  }

  publish(): Promise<void> {
    return this.attempt(async () => {
      this.done = await broker.client.update(this.text, { publisher: "dashboard", ...(this.delay && { delay: this.delay }) });
      this.rehearsal = null;
    });
  }

  private async attempt(work: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.fault = null;
    this.done = null;
    try {
      await work();
    } catch (error) {
      broker.heed(error);
      this.rehearsal = null;
      this.fault = { text: told(error), place: error instanceof BrokerError ? error.place : null };
    } finally {
      this.busy = false;
    }
  }
}
