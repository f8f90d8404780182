/** Checks a text with the broker's parser, a moment after the last key. The broker executes nothing. */

import { broker } from "./broker.svelte";
import type { Fault } from "./tabs.svelte";

const PAUSE = 300; // milliseconds without a key before the broker is asked
const LONGEST = 32_000; // characters; longer texts are pasted, and checked when they are sent

export class Checking {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: AbortController | null = null;

  constructor(
    private readonly kind: "query" | "update",
    private readonly found: (fault: Fault | null) => void,
  ) {}

  /** The text has changed: discard the last result, and check again after a pause. */
  changed(text: string): void {
    this.stop();
    if (text.trim() === "" || text.length > LONGEST || (broker.asks && !broker.identity)) this.found(null);
    else this.timer = setTimeout(() => void this.ask(text), PAUSE);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.asking?.abort();
  }

  private async ask(text: string): Promise<void> {
    const asking = (this.asking = new AbortController());
    try {
      const checked = await broker.client.http.check(this.kind, text, asking.signal);
      if (asking.signal.aborted) return;
      if (checked.valid) this.found(null);
      else this.found({ text: checked.error_description, place: placeOf(checked) });
    } catch (error) {
      broker.heed(error); // if the check fails now, sending the text reports mistakes
    }
  }
}

function placeOf({ line, column }: { readonly line?: number; readonly column?: number }): Fault["place"] {
  return line === undefined || column === undefined ? null : { line, column };
}
