import assert from "node:assert/strict";
import { test } from "node:test";

import { Rows } from "../src/rows.js";
import { type Row, rowKey, termKey, written } from "../src/terms.js";

const row = (value: string): Row => ({ x: { type: "literal", value } });

test("a row counts as often as it was added", () => {
  const rows = new Rows(["x"]);
  assert.equal(rows.fold([row("a"), row("a")], []).added.length, 1);
  assert.equal(rows.size, 2);
  assert.deepEqual(rows.fold([], [row("a")]), { added: [], removed: [] });
  assert.equal(rows.fold([], [row("a")]).removed.length, 1);
  assert.deepEqual([rows.size, [...rows.values()].length], [0, 0]);
});

test("what a notification adds and removes again is nothing", () => {
  const rows = new Rows(["x"]);
  assert.deepEqual(rows.fold([row("a")], [row("a")]), { added: [], removed: [] });
  assert.equal(rows.size, 0);
});

test("do, then undo: the answer is as before", () => {
  const rows = new Rows(["x"]);
  rows.fold([row("a"), row("b")], []);
  rows.fold([row("c")], [row("a")]);
  rows.fold([row("a")], [row("c")]);
  assert.deepEqual([...rows.values()].map((entry) => entry.row["x"]?.value).sort(), ["a", "b"]);
});

test("terms that differ have keys that differ", () => {
  const keys = [
    termKey({ type: "uri", value: "a" }), termKey({ type: "bnode", value: "a" }), termKey({ type: "literal", value: "a" }),
    termKey({ type: "literal", value: "a", "xml:lang": "en" }), termKey({ type: "literal", value: "a", datatype: "urn:en" }), termKey(undefined),
  ]; // prettier-ignore
  assert.equal(new Set(keys).size, keys.length);
  assert.notEqual(rowKey({ x: { type: "uri", value: "a" } }, ["x", "y"]), rowKey({ y: { type: "uri", value: "a" } }, ["x", "y"]));
});

test("terms are written as SPARQL reads them", () => {
  assert.equal(written({ type: "uri", value: "urn:a" }), "<urn:a>");
  assert.equal(written({ type: "literal", value: 'say "hi"\n', "xml:lang": "en" }), '"say \\"hi\\"\\n"@en');
  assert.equal(written({ type: "literal", value: "1", datatype: "http://www.w3.org/2001/XMLSchema#integer" }), '"1"^^<http://www.w3.org/2001/XMLSchema#integer>');
});
