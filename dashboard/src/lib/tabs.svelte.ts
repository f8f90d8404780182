/** The tabs of queries: each has its text, its graph, and an answer that may be live. */

import { BrokerError, type Subscription, type SubscriptionState } from "tidings-client";

import { Answer } from "./answer.svelte";
import { broker, told } from "./broker.svelte";
import { remember } from "./history";
import { keep, kept } from "./kept";
import { FORMATS, read } from "./reading";

export interface Fault {
  readonly text: string;
  readonly place: { readonly line: number; readonly column: number } | null;
}

/** idle: not run yet; running: waiting for the answer; done: has an answer; live: has a live answer. */
export type Phase = "idle" | "running" | "done" | "live";

let made = 0;

export class QueryTab {
  readonly id = (made += 1);
  text = $state("");
  graph = $state("");
  phase = $state<Phase>("idle");
  fault = $state.raw<Fault | null>(null);
  answer = $state.raw(new Answer());
  boolean = $state<boolean | null>(null);
  took = $state(0);
  subscription = $state.raw<SubscriptionState | null>(null);
  spuid = $state<string | null>(null);
  warning = $state("");
  private handle: Subscription | null = null;
  private asking: AbortController | null = null;

  constructor(text: string, graph = "") {
    this.text = text;
    this.graph = graph;
  }

  /** The title of the tab: the last words before the pattern, or a comment at the top. */
  get title(): string {
    const comment = /^\s*#\s*(.+)/.exec(this.text)?.[1];
    const form = /\b(SELECT|ASK|CONSTRUCT|DESCRIBE)\b[^{]*/i.exec(this.text)?.[0];
    const name = (comment ?? form ?? "").replace(/\s+/g, " ").replace(/\s*WHERE\s*$/i, "").trim();
    return name.length > 32 ? `${name.slice(0, 31)}…` : name || "Query";
  }

  get dataset(): { readonly defaultGraphs?: readonly string[] } {
    return this.graph ? { defaultGraphs: [this.graph] } : {};
  }

  async run(): Promise<void> {
    this.stop();
    const asking = (this.asking = new AbortController());
    this.begin();
    const began = performance.now();
    try {
      const response = await broker.client.http.document(this.text, FORMATS, { ...this.dataset, signal: asking.signal });
      this.warning = response.headers.get("Tidings-Warning") ?? "";
      const { variables, rows, boolean } = await read(response);
      this.boolean = boolean;
      this.answer.show(variables, rows);
      this.took = performance.now() - began;
      this.phase = "done";
    } catch (error) {
      if (!asking.signal.aborted) this.fail(error);
    }
  }

  subscribe(): void {
    this.stop();
    this.begin();
    const { answer } = this;
    const began = performance.now();
    this.handle = broker.client.subscribe(
      this.text,
      {
        change: (change) => {
          if (this.took === 0) this.took = performance.now() - began;
          this.spuid = change.notification.spuid;
          answer.take(change);
        },
        state: (state, why) => {
          this.subscription = state;
          if (state === "live") this.phase = "live";
          if (state === "ended" && this.phase === "live") this.end(why);
        },
        error: (error) => this.fail(error),
      },
      this.dataset,
    );
  }

  /** End the request or the subscription; the last answer stays. */
  stop(): void {
    this.asking?.abort();
    const { handle } = this;
    this.handle = null;
    if (this.phase === "live") this.phase = "done";
    if (this.phase === "running") this.phase = "idle";
    handle?.unsubscribe();
    this.subscription = null;
    this.spuid = null;
  }

  /** Remove the answer, as if the query had not been run. */
  forget(): void {
    this.stop();
    this.phase = "idle";
    this.fault = null;
    this.boolean = null;
    this.answer = new Answer();
  }

  private begin(): void {
    remember(this.text, this.graph);
    this.phase = "running";
    this.fault = null;
    this.boolean = null;
    this.warning = "";
    this.took = 0;
    this.answer = new Answer();
  }

  private end(why: string): void {
    this.phase = "done";
    if (this.handle) this.fault = { text: `The broker ended the subscription: ${why}`, place: null };
    this.handle = null;
  }

  private fail(error: unknown): void {
    broker.heed(error);
    this.phase = "idle";
    this.fault = { text: told(error), place: error instanceof BrokerError ? error.place : null };
  }
}

interface KeptTab {
  readonly text: string;
  readonly graph: string;
}

class Tabs {
  all = $state.raw<readonly QueryTab[]>([]);
  current = $state.raw<QueryTab>(new QueryTab(""));

  constructor() {
    const texts = kept<readonly KeptTab[]>("tabs", []);
    this.all = texts.map(({ text, graph }) => new QueryTab(text, graph));
    if (this.all[0]) this.current = this.all[0];
  }

  open(text: string, graph = ""): QueryTab {
    const tab = new QueryTab(text, graph);
    this.all = [...this.all, tab];
    this.current = tab;
    return tab;
  }

  /** The tab that has this text, or a new one. */
  find(text: string, graph: string): QueryTab {
    const found = this.all.find((tab) => tab.text === text && tab.graph === graph);
    if (found) this.current = found;
    return found ?? this.open(text, graph);
  }

  close(tab: QueryTab): void {
    tab.stop();
    const at = this.all.indexOf(tab);
    this.all = this.all.filter((each) => each !== tab);
    const next = this.all[Math.min(at, this.all.length - 1)];
    if (this.current !== tab) return;
    if (next) this.current = next;
    else this.open("", tab.graph);
  }

  /** Remove all answers, which another user may not be allowed to see; the texts stay. */
  forget(): void {
    for (const tab of this.all) tab.forget();
  }

  save(): void {
    keep("tabs", this.all.map(({ text, graph }) => ({ text, graph })));
  }
}

export const tabs = new Tabs();
