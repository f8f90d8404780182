// Runs sepa-js for the tests. A line of stdin is a call, `{"id", "name", "arguments"}`. A line of stdout is its answer,
// `{"id", "answer"}` or `{"id", "refusal"}`, or an event of a subscription, `{"alias", "event", "body"}`.
// The argument is the configuration of the client, which is a JSAP as well.
"use strict";

const readline = require("node:readline");
const { SEPA, Jsap } = require("@arces-wot/sepa-js");
const defaults = require("@arces-wot/sepa-js/lib/defaults");

const EVENTS = ["subscribed", "notification", "added", "removed", "unsubscribed", "error", "connection-error"];

const profile = JSON.parse(process.argv[2]);
const client = new SEPA({ ...defaults, ...profile });
const app = new Jsap(profile);
const subscriptions = new Map();

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");

// Subscriptions of one client share a socket; each of them says how it was closed.
function subscribe(text, alias, config) {
  const subscription = client.subscribe(text, config, alias);
  for (const { ws } of client.connectionPool.values()) {
    ws.addEventListener("close", ({ code }) => say({ alias, event: "closed", body: code }));
  }
  return watch(subscription);
}

function watch(subscription) {
  const { alias } = subscription;
  subscriptions.set(alias, subscription);
  for (const event of EVENTS) {
    subscription.on(event, (body) => say({ alias, event, body: body instanceof Error ? body.message : body }));
  }
  return alias;
}

const calls = {
  query: (text, config) => client.query(text, config),
  update: (text, config) => client.update(text, config),
  subscribe,
  subscribeAndUnsubscribe: (text, alias) => calls.unsubscribe(subscribe(text, alias)),
  unsubscribe: (alias) => subscriptions.get(alias).unsubscribe(),
  kill: (alias) => subscriptions.get(alias).kill(),
  sockets: () => client.connectionPool.size,
  publish: (key, bindings) => app[key](bindings),
  ask: (key, bindings) => app[key].query(bindings),
  follow: (key, bindings) => watch(app[key](bindings)),
};

readline
  .createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, name, arguments: values } = JSON.parse(line);
    try {
      say({ id, answer: (await calls[name](...values)) ?? null });
    } catch (error) {
      const { status, data } = error.response ?? {};
      say({ id, refusal: { message: error.message, status, body: data } });
    }
  })
  .on("close", () => process.exit(0));
