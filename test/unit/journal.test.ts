import { describe, expect, it } from "vitest";
import { fingerprintOf } from "../../provider/src/journal/journal.js";
import { JournalDamaged, lineOf, notesFor, readNotes } from "../../provider/src/journal/notes.js";
import { nameOf, urnOf } from "../../provider/src/schema/identity.js";

/** A journal as version 0.1.0 wrote it: a contract with the past. */
const journal = [
  '{"journal":"pulumi-advertising","version":1}',
  '{"note":"sent","mark":"m1","key":"Advertiser::o/p/s::a","fingerprint":"f1","at":"2026-11-21T09:28:31.735Z"}',
  '{"note":"created","mark":"m1","id":"1"}',
  '{"note":"sent","mark":"m2","key":"ConversionEvent::o/p/s::e","fingerprint":"f2","at":"2026-11-21T09:28:32.735Z"}',
  '{"note":"sent","mark":"m3","key":"ConversionEvent::o/p/s::f","fingerprint":"f3","at":"2026-11-21T09:28:33.735Z"}',
  '{"note":"reported","mark":"m2"}',
  '{"note":"settled","mark":"m3"}',
  "",
].join("\n");

describe("a journal", () => {
  it("adds up to what is not settled", () => {
    expect([...readNotes(journal).values()]).toEqual([
      { mark: "m1", key: "Advertiser::o/p/s::a", fingerprint: "f1", at: "2026-11-21T09:28:31.735Z", id: "1" },
      { mark: "m2", key: "ConversionEvent::o/p/s::e", fingerprint: "f2", at: "2026-11-21T09:28:32.735Z" },
    ]);
  });

  it("reads the same when it is written anew", () => {
    const remembered = readNotes(journal);
    const anew = `${journal.split("\n")[0]}\n${notesFor(remembered.values()).map(lineOf).join("")}`;
    expect(readNotes(anew)).toEqual(remembered);
  });

  it("passes over an unfinished last line, wherever the kill cut it", () => {
    for (let length = 0; length < journal.length; length++)
      expect(() => readNotes(journal.slice(0, length))).not.toThrow();
  });

  it.each<[string, string]>([
    ["another file", "hello\n"],
    ["a damaged line", journal.replace('"mark":"m2","key"', '"mark:"m2","key"')],
    ["an unknown note", journal.replace('"reported"', '"rumoured"')],
    ["a later version", journal.replace('"version":1', '"version":2')],
    ["lines of zeros, as a lost disk write leaves", `${journal}\u0000\u0000\u0000\n`],
  ])("is never silently passed over where it is damaged: %s", (_, text) => {
    expect(() => readNotes(text)).toThrow(JournalDamaged);
  });
});

it("a fingerprint does not depend on the order of fields", () => {
  expect(fingerprintOf({ a: 1, b: { c: [1, 2], d: 3 } })).toBe(fingerprintOf({ b: { d: 3, c: [1, 2] }, a: 1 }));
  expect(fingerprintOf({ a: 1 })).not.toBe(fingerprintOf({ a: 2 }));
  expect(fingerprintOf({ a: 1 })).toMatch(/^[0-9a-f]{32}$/);
});

it.each([
  ["o/p/s::e", "e", "urn:pulumi:s::p::my:index:Type::e"],
  ["o/p/s::a:b:C::e", "e", "urn:pulumi:s::p::a:b:C$my:index:Type::e"],
  ["o/p/s::a:b:C$d:e:F::e::f", "e::f", "urn:pulumi:s::p::a:b:C$d:e:F$my:index:Type::e::f"],
  ["o/p/s::e::f", "e::f", "urn:pulumi:s::p::my:index:Type::e::f"],
])("the identity %s is named %s", (identity, name, urn) => {
  expect(nameOf(identity)).toBe(name);
  expect(urnOf(identity, "my:index:Type")).toBe(urn);
});
