import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { accountOf } from "../../provider/src/settings/index.js";
import { placesOf } from "../../provider/src/store/places.js";
import { newFolder } from "../support/folder.js";

const account = { baseUrl: "https://platform.example/prefix", email: "ops@example.com" };

/** Whether both accounts share a journal: by default, without a cookie file and with one. */
const share = (one: typeof account, other: typeof account) =>
  [undefined, "none", "session.json"].map((cookieFile) => {
    const [ours, theirs] = [one, other].map((each) => placesOf(each, "", cookieFile, "/program").journalFolder);
    return ours === theirs;
  });

it.each([
  ["the e-mail in capitals", { email: "Ops@Example.com" }, true],
  ["another scheme", { baseUrl: "http://platform.example/prefix" }, true],
  ["another e-mail", { email: "else@example.com" }, false],
  ["another host", { baseUrl: "https://other.example/prefix" }, false],
  ["another prefix", { baseUrl: "https://platform.example" }, false],
])("an account has one journal in any spelling: %s", (_, change, isSame) => {
  const other = { ...account, ...change };
  expect(accountOf(other) === accountOf(account)).toBe(isSame);
  expect(share(account, other)).toEqual([isSame, isSame, isSame]);
});

it("a folder of journals that an earlier version named by the e-mail as typed is used on", () => {
  const folder = newFolder();
  const typed = { ...account, email: "Ops@Example.com" };
  const digest = createHash("sha256")
    .update(JSON.stringify([typed.baseUrl, typed.email]))
    .digest("hex")
    .slice(0, 16);
  const former = join(folder, `session.json.journal-${digest}`);
  mkdirSync(former);
  expect(placesOf(typed, "", "session.json", folder).journalFolder).toBe(former);
});
