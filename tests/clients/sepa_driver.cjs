// Runs sepa-js for the tests. A line of stdin is a call, `{"id", "name", "arguments"}`. A line of stdout is its answer,
// `{"id", "answer"}` or `{"id", "refusal"}`, or an event of a subscription, `{"alias", "event", "body"}`.
// The argument is the configuration of the client, which is a JSAP as well. `register` and `become` make the client one
// that shows who it is.
"use strict";

const readline = require("node:readline");
const { SEPA, Jsap, client: shared } = require("@arces-wot/sepa-js");
const defaults = require("@arces-wot/sepa-js/lib/defaults");

const EVENTS = ["subscribed", "notification", "added", "removed", "unsubscribed", "error", "connection-error"];

const profile = JSON.parse(process.argv[2]);
let client = new SEPA({ ...defaults, ...profile });
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

// Registration hands back a client for the ports 8443 and 9443; ours is for those of the profile.
async function register(identity) {
  const { clientID, clientSecret } = await shared.secure.register(identity, { oauth: profile.oauth });
  become(clientID, clientSecret);
  return { id: clientID, secret: clientSecret };
}

function become(id, secret) {
  client = new shared.secure(id, secret, { ...defaults, ...profile });
}

const calls = {
  register,
  become,
  login: () => client.login(),
  token: () => client.webToken?.access_token,
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
