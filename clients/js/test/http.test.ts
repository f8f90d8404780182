import assert from "node:assert/strict";
import { test } from "node:test";

import { Tidings, socketAddress } from "../src/client.js";
import { BrokerError, Unreachable } from "../src/errors.js";

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

function client(answer: () => Response, token?: string): { readonly tidings: Tidings; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  const ask: typeof fetch = (url, init = {}) => {
    sent.push({ url: url instanceof Request ? url.url : url.toString(), init });
    return Promise.resolve().then(answer);
  };
  return { tidings: new Tidings("http://broker:8000", { fetch: ask, ...(token && { token: () => token }) }), sent };
}

test("a query is sent as a form, with its dataset and its token", async () => {
  const { tidings, sent } = client(() => Response.json({ head: { vars: ["x"] }, results: { bindings: [{}] } }), "t");
  assert.equal((await tidings.select("SELECT ?x {}", { defaultGraphs: ["urn:g"] })).length, 1);
  assert.equal(sent[0]?.url, "http://broker:8000/query");
  assert.equal(String(sent[0].init.body), "query=SELECT+%3Fx+%7B%7D&default-graph-uri=urn%3Ag");
  assert.equal(new Headers(sent[0].init.headers).get("authorization"), "Bearer t");
});

test("a query may be about the past", async () => {
  const { tidings, sent } = client(() => Response.json({ head: { vars: [] }, results: { bindings: [] } }));
  await tidings.query("ASK {}", { at: 7 });
  assert.equal(String(sent[0]?.init.body), "query=ASK+%7B%7D&at=7");
});

test("a text is checked, and that it is wrong is no failure", async () => {
  const wrong = { valid: false, error: "sparql_syntax_error", status_code: 400, error_description: "line 1, column 4: …", line: 1, column: 4 };
  const { tidings, sent } = client(() => Response.json(wrong));
  assert.deepEqual(await tidings.http.check("update", "CLE"), wrong);
  assert.equal(sent[0]?.url, "http://broker:8000/check");
  assert.equal(String(sent[0].init.body), "update=CLE");
});

test("an update says who publishes it and when it is due", async () => {
  const { tidings, sent } = client(() => Response.json({ response: { delayed: "1", at: "later", time: 1 } }));
  assert.deepEqual(await tidings.update("CLEAR ALL", { publisher: "me", delay: "PT5M" }), { delayed: "1", at: "later", time: 1 });
  assert.equal(String(sent[0]?.init.body), "update=CLEAR+ALL&delay=PT5M");
  assert.equal(new Headers(sent[0]?.init.headers).get("tidings-publisher"), "me");
});

test("what the broker refuses is an error with its code", async () => {
  const envelope = { error: "sparql_syntax_error", status_code: 400, error_description: "line 2, column 5: …", line: 2, column: 5 };
  const { tidings } = client(() => Response.json(envelope, { status: 400 }));
  await assert.rejects(tidings.query("x"), (error) => error instanceof BrokerError && error.place?.line === 2 && error.code === envelope.error);
});

test("an answer of something in between is an error, too", async () => {
  const { tidings } = client(() => new Response("Bad Gateway", { status: 502 }));
  await assert.rejects(tidings.query("x"), (error) => error instanceof BrokerError && error.status === 502 && error.message === "Bad Gateway");
});

test("a broker that does not answer is unreachable", async () => {
  const { tidings } = client(() => {
    throw new TypeError("fetch failed");
  });
  await assert.rejects(tidings.query("x"), Unreachable);
});

test("subscriptions are beside the HTTP interface", () => {
  assert.equal(socketAddress("http://broker:8000/"), "ws://broker:8000/subscribe");
  assert.equal(socketAddress("https://example.org/tidings/"), "wss://example.org/tidings/subscribe");
});
