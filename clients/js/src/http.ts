/** Requests over HTTP. Each sends the token, if there is one, and throws the broker's error if it fails. */

import { Unreachable, refusal } from "./errors.js";
import type { TokenProvider } from "./connection.js";
import type { Dataset, Results } from "./messages.js";

export interface HttpOptions {
  readonly base: string;
  readonly token?: TokenProvider;
  readonly fetch?: typeof fetch;
}

export interface Asked extends Dataset {
  /** A commit: the broker answers for the state after it. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

export interface UpdateOptions {
  readonly publisher?: string;
  /** Seconds, or a duration such as `PT5M`, after which the broker executes the update. */
  readonly delay?: number | string;
  readonly signal?: AbortSignal;
}

/** Whether a text is valid, and if not, the message and the place of the mistake: line and column, from 1. */
export type Checked =
  | { readonly valid: true; readonly warnings: readonly string[] }
  | { readonly valid: false; readonly error: string; readonly error_description: string; readonly line?: number; readonly column?: number };

/** The result of an update: a commit, or a delayed update. */
export type Committed =
  | { readonly sequence: number; readonly time: number; readonly added: number; readonly removed: number }
  | { readonly delayed: string; readonly at: string; readonly time: number };

export class Http {
  constructor(private readonly options: HttpOptions) {}

  /** The raw answer of the broker. Throws BrokerError, Unreachable. */
  async send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const token = (await this.options.token?.()) ?? null;
    if (token) headers.set("Authorization", `Bearer ${token}`);
    const ask = this.options.fetch ?? fetch;
    let response: Response;
    try {
      response = await ask(new URL(path, this.options.base), { ...init, headers });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new Unreachable(`${this.options.base} cannot be reached`, { cause: error });
    }
    if (!response.ok) throw refusal(response.status, await response.text());
    return response;
  }

  async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await this.send(path, { ...init, headers: { Accept: "application/json", ...init.headers } });
    return (await response.json()) as T;
  }

  /** The answer to SELECT and ASK. */
  async query(sparql: string, asked: Asked = {}): Promise<Results> {
    const response = await this.document(sparql, "application/sparql-results+json", asked);
    return (await response.json()) as Results;
  }

  /** The answer to a query as a document of some format: a name such as `csv`, or media types in the order of preference. */
  document(sparql: string, format: string, asked: Asked = {}): Promise<Response> {
    const form = new URLSearchParams({ query: sparql });
    for (const graph of asked.defaultGraphs ?? []) form.append("default-graph-uri", graph);
    for (const graph of asked.namedGraphs ?? []) form.append("named-graph-uri", graph);
    if (asked.at !== undefined) form.set("at", String(asked.at));
    const named = !format.includes("/");
    if (named) form.set("format", format);
    return this.send("query", {
      method: "POST",
      body: form,
      ...(named ? {} : { headers: { Accept: format } }),
      ...(asked.signal && { signal: asked.signal }),
    });
  }

  /** Whether a text is valid; the broker does not execute it. */
  check(kind: "query" | "update", sparql: string, signal?: AbortSignal): Promise<Checked> {
    return this.json<Checked>("check", { method: "POST", body: new URLSearchParams({ [kind]: sparql }), ...(signal && { signal }) });
  }

  async update(sparql: string, options: UpdateOptions = {}): Promise<Committed> {
    const form = new URLSearchParams({ update: sparql });
    if (options.delay !== undefined) form.set("delay", String(options.delay));
    const response = await this.send("update", {
      method: "POST",
      body: form,
      headers: options.publisher ? { "Tidings-Publisher": options.publisher } : {},
      ...(options.signal && { signal: options.signal }),
    });
    return ((await response.json()) as { readonly response: Committed }).response;
  }
}
