/** The status of the broker, polled every two seconds while a page shows it, with its recent history. */

import { broker, told } from "./broker.svelte";
import { type Buckets, bucketsOf, percentile, since } from "./percentiles";

export interface Status {
  readonly version: string;
  readonly uptime: number;
  readonly sequence: number;
  readonly quads: number;
  readonly graphs: number;
  readonly sessions?: number;
  /** The number of clients that follow the log: jobs on Spark, lakes and others. */
  readonly followers?: number;
  readonly subscriptions?: Readonly<Record<"live" | "absent" | "plans" | "notified" | "merged" | "dropped_slow" | "resumed" | "refreshed", number>>;
  readonly delayed?: Readonly<Record<"waiting" | "done" | "failed", number>>;
  readonly queue?: Readonly<Record<"waiting" | "done" | "failed" | "refused" | "aside" | "prepared", number>>;
  readonly queries?: Readonly<Record<"done" | "aside", number>>;
  readonly forks?: Readonly<Record<"running" | "made", number>>;
  readonly log?: { readonly durability: string; readonly sequence: number; readonly oldest: number; readonly bytes?: number; readonly failures?: number; readonly broken?: boolean; readonly snapshot?: number } | null;
  /** The history lake with commits that the log no longer has, if one is configured. */
  readonly lake?: LakeStatus | null;
  /** The job on Spark that works out the answers of subscriptions, if there is one. */
  readonly external?: { readonly batch: number; readonly waiting: number } | null;
  /** The gates besides HTTP and WebSocket that are switched on, by name. */
  readonly gates?: Readonly<Record<string, GateStatus>>;
  readonly kpi?: Readonly<Record<string, number>>;
  readonly memory?: { readonly resident?: number; readonly peak: number };
  readonly readable?: readonly string[];
}

/** How far a history lake reaches, and of which graphs. */
export interface LakeStatus {
  readonly folder?: string;
  readonly first: number;
  readonly last: number;
  readonly graphs: readonly string[];
  readonly error?: { readonly error_description: string };
}

/** The figures of every gate; some gates have others in addition. */
export interface GateStatus {
  readonly address: string;
  readonly clients: number;
  readonly requests: number;
  readonly errors: number;
  readonly notifications: number;
}

/** One sample of the status, for charts. Null is unknown. */
export interface Sample {
  readonly at: number; // seconds since 1970
  readonly updates: number | null;
  readonly notifications: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
  readonly memory: number | null;
  readonly hits: number | null;
  readonly waiting: number | null;
  readonly subscriptions: number | null;
  readonly plans: number | null;
  readonly merged: number | null;
  readonly written: number | null;
}

const perThousand = (value: number | null): number | null => (value === null ? null : value / 1024);

const EVERY = 2000;
const MOST = 300;

export class Watching {
  status = $state.raw<Status | null>(null);
  samples = $state.raw<readonly Sample[]>([]);
  fault = $state("");
  /** The errors since the page was opened, by the counters of the broker. */
  troubles = $state.raw<readonly string[]>([]);
  private before: { readonly status: Status; readonly buckets: Buckets; readonly at: number } | null = null;
  private timer: ReturnType<typeof setInterval> | undefined;

  begin(): void {
    void this.look();
    this.timer = setInterval(() => void this.look(), EVERY);
  }

  end(): void {
    clearInterval(this.timer);
  }

  private async look(): Promise<void> {
    if (document.hidden) return;
    try {
      const status = await broker.json<Status>("status");
      const buckets = await this.buckets();
      const at = Date.now() / 1000;
      this.samples = [...this.samples, this.sample(status, buckets, at)].slice(-MOST);
      this.note(status);
      this.before = { status, buckets, at };
      this.status = status;
      this.fault = "";
    } catch (error) {
      this.fault = told(error);
    }
  }

  /** Read the metrics, which a broker with security shows to administrators only. */
  private async buckets(): Promise<Buckets> {
    if (broker.asks && !this.status?.kpi) return [];
    const response = await broker.client.http.send("metrics");
    return bucketsOf(await response.text(), "tidings_update_seconds");
  }

  private sample(status: Status, buckets: Buckets, at: number): Sample {
    const { before } = this;
    const rate = (now: number | undefined, then: number | undefined): number | null =>
      before === null || now === undefined || then === undefined ? null : Math.max(0, (now - then) / (at - before.at));
    const spread = before === null ? [] : since(before.buckets, buckets);
    return {
      at,
      updates: rate(status.queue?.done, before?.status.queue?.done),
      notifications: rate(status.subscriptions?.notified, before?.status.subscriptions?.notified),
      p50: percentile(spread, 0.5),
      p95: percentile(spread, 0.95),
      p99: percentile(spread, 0.99),
      memory: status.memory?.resident === undefined ? null : status.memory.resident / 2 ** 20,
      hits: status.kpi?.["LHR"] ?? null,
      waiting: status.queue?.waiting ?? null,
      subscriptions: status.subscriptions ? status.subscriptions.live + status.subscriptions.absent : null,
      plans: status.subscriptions?.plans ?? null,
      merged: rate(status.subscriptions?.merged, before?.status.subscriptions?.merged),
      written: perThousand(rate(status.log?.bytes, before?.status.log?.bytes)),
    };
  }

  private note(status: Status): void {
    const then = this.before?.status;
    if (!then) return;
    const counters: readonly [string, number | undefined, number | undefined][] = [
      ["updates failed", status.queue?.failed, then.queue?.failed],
      ["updates refused: the queue is full", status.queue?.refused, then.queue?.refused],
      ["delayed updates failed", status.delayed?.failed, then.delayed?.failed],
      ["clients disconnected: they read too slowly", status.subscriptions?.dropped_slow, then.subscriptions?.dropped_slow],
      ["writes of the log failed", status.log?.failures, then.log?.failures],
    ];
    const time = new Date().toLocaleTimeString("en-GB");
    const fresh = counters.flatMap(([text, now = 0, before = 0]) => (now > before ? [`${time}  ${now - before} ${text}`] : []));
    if (fresh.length) this.troubles = [...fresh, ...this.troubles].slice(0, 100);
  }
}
