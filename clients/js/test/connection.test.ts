import assert from "node:assert/strict";
import { test } from "node:test";

import { Connection, type ConnectionState } from "../src/connection.js";
import type { BrokerError } from "../src/errors.js";
import type { Change, Subscription } from "../src/subscription.js";
import { FakeSocket, FakeTime, notification, settled } from "./socket.js";

interface Scene {
  readonly connection: Connection;
  readonly sockets: FakeSocket[];
  readonly states: ConnectionState[];
  readonly time: FakeTime;
  socket(): FakeSocket;
}

function scene(token?: () => string | null): Scene {
  const sockets: FakeSocket[] = [];
  const states: ConnectionState[] = [];
  const time = new FakeTime();
  const connection = new Connection({
    open: () => {
      const socket = new FakeSocket();
      sockets.push(socket);
      return socket;
    },
    later: time.later,
    state: (state) => states.push(state),
    ...(token && { token }),
  });
  const socket = (): FakeSocket => sockets.at(-1) ?? assert.fail("nobody has connected");
  return { connection, sockets, states, time, socket };
}

const values = (subscription: Subscription): string[] => [...subscription.rows.values()].map((entry) => entry.row["x"]?.value ?? "");

async function opened(socket: FakeSocket): Promise<void> {
  socket.onopen?.();
  await settled();
}

test("notifications are folded into rows", async () => {
  const { connection, socket } = scene();
  const changes: Change[] = [];
  const subscription = connection.subscribe("SELECT ?x", { change: (change) => changes.push(change) }, {});
  await opened(socket());
  assert.equal(socket().sent[0]?.["subscribe"]?.["sparql"], "SELECT ?x");
  socket().tell(notification({ alias: subscription.alias, sequence: 0, added: ["a", "b"] }));
  socket().tell(notification({ alias: subscription.alias, sequence: 1, added: ["c"], removed: ["a"] }));
  assert.deepEqual(values(subscription), ["b", "c"]);
  assert.deepEqual(changes.map((change) => [change.whole, change.added.length, change.removed.length]), [[true, 2, 0], [false, 1, 1]]);
});

test("a connection that breaks is made again, and the subscription goes on after what it has seen", async () => {
  const { connection, sockets, socket, states, time } = scene();
  const told: string[] = [];
  const subscription = connection.subscribe("SELECT ?x", { state: (state) => told.push(state) }, {});
  await opened(socket());
  socket().tell(notification({ alias: subscription.alias, sequence: 0, added: ["a"] }));
  socket().break();
  assert.equal(subscription.state, "away");
  time.pass();
  await opened(socket());
  assert.deepEqual(socket().sent[0]?.["subscribe"]?.["resume"], { spuid: "urn:1", sequence: 0 });
  socket().tell(notification({ alias: subscription.alias, sequence: 1, added: ["b"], resumed: true }));
  assert.deepEqual(values(subscription), ["a", "b"]);
  assert.deepEqual(told, ["live", "away", "live"]);
  assert.deepEqual(states, ["connecting", "open", "waiting", "connecting", "open"]);
  assert.equal(sockets.length, 2);
});

test("if the broker no longer knows what was missed, the rows of before are void", async () => {
  const { connection, socket, time } = scene();
  const subscription = connection.subscribe("SELECT ?x", {}, {});
  await opened(socket());
  socket().tell(notification({ alias: subscription.alias, sequence: 0, added: ["a"] }));
  socket().break();
  time.pass();
  await opened(socket());
  socket().tell(notification({ spuid: "urn:2", alias: subscription.alias, sequence: 0, added: ["z"], resumed: false }));
  assert.deepEqual(values(subscription), ["z"]);
});

test("a notification that comes twice counts once", async () => {
  const { connection, socket } = scene();
  const subscription = connection.subscribe("SELECT ?x", {}, {});
  await opened(socket());
  for (let time = 0; time < 2; time += 1) socket().tell(notification({ alias: subscription.alias, sequence: 0, added: ["a"] }));
  assert.equal(subscription.rows.size, 1);
});

test("pauses grow from one attempt to the next, up to a limit", async () => {
  const { connection, socket, time } = scene();
  connection.subscribe("SELECT ?x", {}, {});
  const pauses: number[] = [];
  for (let attempt = 0; attempt < 9; attempt += 1) {
    socket().break();
    pauses.push(time.pass());
  }
  assert.ok((pauses[0] ?? 0) < 400, String(pauses[0]));
  assert.ok((pauses[8] ?? 0) > 3_000 && (pauses[8] ?? 0) <= 6_250, String(pauses[8]));
});

test("what the broker refuses is told to who asked, with its place", async () => {
  const { connection, socket } = scene();
  const errors: BrokerError[] = [];
  const subscription = connection.subscribe("SELEC", { error: (error) => errors.push(error) }, {});
  await opened(socket());
  socket().tell({ error: "sparql_syntax_error", status_code: 400, error_description: "line 1", alias: subscription.alias, line: 1, column: 3 });
  assert.deepEqual([errors[0]?.code, errors[0]?.place, subscription.state], ["sparql_syntax_error", { line: 1, column: 3 }, "ended"]);
});

test("a subscription that is given up before its first answer is ended at the broker, too", async () => {
  const { connection, socket } = scene();
  const subscription = connection.subscribe("SELECT ?x", {}, {});
  await opened(socket());
  subscription.unsubscribe();
  socket().tell(notification({ alias: subscription.alias, sequence: 0, added: ["a"] }));
  assert.deepEqual(socket().sent.at(-1), { unsubscribe: { spuid: "urn:1" } });
  assert.equal(subscription.rows.size, 0);
});

test("nobody subscribes any more: the connection ends", async () => {
  const { connection, socket, time } = scene();
  const subscription = connection.subscribe("SELECT ?x", {}, {});
  await opened(socket());
  subscription.unsubscribe();
  time.pass();
  assert.deepEqual([socket().closed, connection.state], [true, "closed"]);
});

test("every subscription shows the token of the moment", async () => {
  let token = "one";
  const { connection, socket, time } = scene(() => token);
  connection.subscribe("SELECT ?x", {}, {});
  await opened(socket());
  assert.equal(socket().sent[0]?.["subscribe"]?.["authorization"], "Bearer one");
  token = "two";
  await connection.renew();
  assert.equal(socket().sent[1]?.["query"]?.["authorization"], "Bearer two");
  socket().break();
  time.pass();
  await opened(socket());
  assert.equal(socket().sent[0]?.["subscribe"]?.["authorization"], "Bearer two");
});

test("a subscription that the broker ends is over, with the reason", async () => {
  const { connection, socket } = scene();
  const reasons: string[] = [];
  const subscription = connection.subscribe("SELECT ?x", { state: (_, why) => reasons.push(why) }, {});
  await opened(socket());
  socket().tell(notification({ alias: subscription.alias, sequence: 0 }));
  socket().tell({ unsubscribed: { spuid: "urn:1", reason: "the client was revoked" } });
  assert.deepEqual([subscription.state, reasons.at(-1)], ["ended", "the client was revoked"]);
});
