/** A broker's end of a WebSocket, in the hands of a test; and time that passes when the test says so. */

import type { Socket } from "../src/connection.js";

export class FakeSocket implements Socket {
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  readonly sent: Record<string, Record<string, unknown>>[] = [];
  closed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Record<string, Record<string, unknown>>);
  }

  close(): void {
    this.closed = true;
  }

  tell(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  break(): void {
    this.onclose?.({ code: 1006, reason: "" });
  }
}

export class FakeTime {
  private readonly waiting: { run: () => void; at: number }[] = [];

  readonly later = (run: () => void, milliseconds: number): (() => void) => {
    const entry = { run, at: milliseconds };
    this.waiting.push(entry);
    return () => this.waiting.splice(this.waiting.indexOf(entry), 1);
  };

  /** How long the next in line would have waited; it runs now. */
  pass(): number {
    const entry = this.waiting.shift();
    entry?.run();
    return entry?.at ?? 0;
  }
}

/** Until everything that waits for a promise has gone on. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export interface Told {
  readonly spuid?: string;
  readonly alias: string;
  readonly sequence: number;
  readonly added?: readonly string[];
  readonly removed?: readonly string[];
  readonly resumed?: boolean;
}

/** A notification about one variable, `x`, whose values are IRIs. */
export function notification(told: Told): object {
  const results = (values: readonly string[] = []): object => ({
    head: { vars: ["x"] },
    results: { bindings: values.map((value) => ({ x: { type: "uri", value } })) },
  });
  const { spuid = "urn:1", alias, sequence, added, removed, resumed } = told;
  return {
    notification: {
      spuid, alias, sequence, addedResults: results(added), removedResults: results(removed),
      commit: 10 + sequence, time: 1, ...(resumed === undefined ? {} : { resumed }),
    },
  }; // prettier-ignore
}
