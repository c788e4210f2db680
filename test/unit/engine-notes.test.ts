/** What the processes of one engine note for each other about interrupted updates. */
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { systemDisk } from "../../provider/src/files/index.js";
import { EngineNotes } from "../../provider/src/journal/index.js";
import { newFolder } from "../support/folder.js";

const NOTES = { creates: [{ mark: "m" }], objects: [] };

function start() {
  const folder = join(newFolder(), "state");
  const of = (engine: string) => new EngineNotes(engine, folder, systemDisk);
  return { path: of("one").path, of };
}

it("another process of the engine reads them, until an `up` has ended", () => {
  const { path, of } = start();
  expect(of("one").read()).toBeUndefined();
  of("one").write(NOTES);
  expect(of("one").read()).toEqual(NOTES);
  of("one").remove();
  expect([of("one").read(), readdirSync(dirname(path))]).toEqual([undefined, []]);
});

it("another engine does not read them, and writes its own", () => {
  const { of } = start();
  of("one").write(NOTES);
  expect(of("two").read()).toBeUndefined();
  of("two").write({});
  expect([of("one").read(), of("two").read()]).toEqual([NOTES, {}]);
});

it("a file that is none of these, a link, or a folder that can't be used: never fails", () => {
  const { path, of } = start();
  mkdirSync(dirname(path), { mode: 0o700 });
  writeFileSync(path, "{", { mode: 0o600 });
  expect(of("one").read()).toBeUndefined();
  of("one").remove();
  const target = join(newFolder(), "theirs");
  writeFileSync(target, JSON.stringify(NOTES));
  symlinkSync(target, path);
  expect(of("one").read()).toBeUndefined();
  of("one").write(NOTES);
  expect(of("one").read()).toBeUndefined();
  of("one").remove();
  chmodSync(dirname(path), 0o777);
  of("one").write(NOTES);
  of("one").remove();
});
