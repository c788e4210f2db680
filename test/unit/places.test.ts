/** Where the files of a run stand, and what is known of deleted objects. */
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Settings } from "../../provider/src/settings/index.js";
import { backendIn, cookieFileFor, deletedObjects } from "../../provider/src/store/index.js";
import { newFolder } from "../support/folder.js";

it.each([
  ["file://~", `file://${homedir()}/`, `file://${homedir()}?no_tmp_dir=true`, " file://~/ "],
  ["file://.", "file://./", "file:///programs/tiny", "file://../tiny/."],
  ["s3://bucket", "s3://bucket/", "s3://bucket?region=eu"],
  ["https://api.pulumi.com", "https://api.pulumi.com/"],
  ["postgres://db.example/states", "postgres://ann:pa$$@ss@db.example/states", "postgres://bob@db.example/states"],
])("%s in other spellings is one place, and tells no secret", (...urls) => {
  const places = urls.map((PULUMI_BACKEND_URL) => backendIn({ PULUMI_BACKEND_URL }, "/programs/tiny"));
  expect(new Set(places).size).toBe(1);
  expect(places[0]).not.toMatch(/~|ann|pa\$/);
});

it("a relative backend of another program is another one", () => {
  const environment = { PULUMI_BACKEND_URL: "file://./states" };
  expect(backendIn(environment, "/programs/one")).not.toBe(backendIn(environment, "/programs/two"));
});

it("the backend is that of the environment, of the project's file, of the last login, in this order", () => {
  const [home, project] = [newFolder(), newFolder()];
  const program = join(project, "deeper");
  mkdirSync(program);
  writeFileSync(join(home, "mine.json"), '{"current":"https://api.pulumi.com"}');
  symlinkSync("mine.json", join(home, "credentials.json")); // as people do who keep such files elsewhere
  const backend = (more: object = {}) => backendIn({ PULUMI_HOME: home, ...more }, program);
  expect(backendIn({ PULUMI_HOME: project }, program)).toBe("");
  expect(backend()).toBe("https://api.pulumi.com");
  writeFileSync(
    join(project, "Pulumi.yaml"),
    'name: x\nbackend: # ours\n  other: 1\n  url: "s3://ours" # x\nmain: .\n',
  );
  expect(backend()).toBe("s3://ours");
  expect(backend({ PULUMI_BACKEND_URL: "file:///elsewhere" })).toBe("file:///elsewhere");
});

it("sessions of one account share a file in any spelling; others have their own", () => {
  const settings = { baseUrl: "https://p.example", email: "a@example.com", keepLoggedIn: false, authenticatePath: "r" };
  const file = (more: object) => cookieFileFor({ ...settings, ...more } as Settings, "/program");
  const same = [{}, { baseUrl: "http://p.example" }, { email: "A@example.com" }].map(file);
  expect(new Set(same).size).toBe(1);
  const others = [{ baseUrl: "https://q.example" }, { email: "b@" }, { keepLoggedIn: true }, { authenticatePath: "2" }];
  expect(new Set([...same, ...others.map(file)]).size).toBe(5);
  expect(file({ cookieFile: "none" })).toBeUndefined();
  expect(file({ cookieFile: "here.json" })).toBe("/program/here.json");
  expect(file({ cookieFile: "~/ads/session.json" })).toBe(join(homedir(), "ads/session.json"));
  expect(file({ cookieFile: "a~/b.json" })).toBe("/program/a~/b.json");
});

it("deleted objects are known to later runs of the account; of a torn or unusable file less is known", () => {
  const folder = newFolder();
  const known = (account = "a") => ["1", "2"].map((id) => deletedObjects(folder, account).has("ConversionEvent", id));
  deletedObjects(folder, "a").add("ConversionEvent", "1");
  expect([known(), known("b")].flat()).toEqual([true, false, false, false]);
  expect(deletedObjects(folder, "a").has("Advertiser", "1")).toBe(false);
  appendFileSync(join(folder, "deleted.lines"), 'half\n{"deleted":"ConversionEvent 2');
  expect(known()).toEqual([true, false]);
  deletedObjects(folder, "a").add("ConversionEvent", "2");
  expect(known()).toEqual([true, true]);
  const nowhere = deletedObjects("/dev/null", "a");
  nowhere.add("ConversionEvent", "1");
  expect(nowhere.has("ConversionEvent", "1")).toBe(true);
});
