/** Where the files of a run stand. */
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import {
  backendIn,
  cookieFileFor,
  findJournals,
  journalPath,
  stackPlace,
} from "../../provider/src/journal/index.js";
import type { Settings } from "../../provider/src/settings/index.js";
import { newFolder } from "../support/folder.js";

const PROGRAM = "/programs/tiny";

const url = (PULUMI_BACKEND_URL: string) => backendIn({ PULUMI_BACKEND_URL }, PROGRAM);

it("a backend's address is as it is given, but for a relative folder and the home folder", () => {
  for (const address of ["s3://bucket?region=eu", "https://api.pulumi.com", ""])
    expect(url(address)).toBe(address === "" ? backendIn({}, PROGRAM) : address);
  expect(url("file://~")).toBe(`file://${homedir()}`);
  expect(url("file://~/states")).toBe(`file://${homedir()}/states`);
  expect(url("file://./states")).toBe(`file://${PROGRAM}/states`);
  expect(url("file:///states/")).toBe("file:///states");
  expect(backendIn({ PULUMI_BACKEND_URL: "file://." }, "/other")).toBe("file:///other");
});

/** A program's folder below its project's, and a login to Pulumi Cloud. */
function projectWith(files: Record<string, string>) {
  const home = newFolder();
  const project = newFolder();
  const program = join(project, "deeper");
  mkdirSync(program);
  writeFileSync(join(home, "mine.json"), '{"current":"https://api.pulumi.com"}');
  symlinkSync("mine.json", join(home, "credentials.json")); // as people do who keep such files elsewhere
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(project, name), text);
  return {
    home,
    project,
    program,
    backend: (more: object = {}) => backendIn({ PULUMI_HOME: home, ...more }, program),
  };
}

it("the backend is that of the environment, of the project's file, of the last login, in this order", () => {
  const { home, project, program, backend } = projectWith({});
  expect(backendIn({ PULUMI_HOME: project }, program)).toBe("");
  expect(backend()).toBe("https://api.pulumi.com");
  expect(backend({ PULUMI_HOME: project, PULUMI_CREDENTIALS_PATH: home })).toBe(
    "https://api.pulumi.com",
  );
  writeFileSync(join(project, "Pulumi.yaml"), "name: x\nbackend:\n  url: s3://ours\n");
  expect(backend()).toBe("s3://ours");
  expect(backend({ PULUMI_BACKEND_URL: "file:///elsewhere" })).toBe("file:///elsewhere");
});

const BLOCK = "name: x\nruntime: nodejs\nbackend:\n  url: s3://ours\n";
const JSON_FILE = '{"name":"x","backend":{"url":"s3://ours"}}';

// Each is what Pulumi's CLI reads (pkg/workspace/creds.go, sdk/go/common/workspace/{paths,loaders}.go).
it.each<[what: string, Record<string, string>, expected?: string]>([
  ["block style", { "Pulumi.yaml": BLOCK }],
  ["flow style", { "Pulumi.yaml": 'name: x\nbackend: { url: "s3://ours" }\n' }],
  [
    "flow style over lines",
    { "Pulumi.yaml": "name: x\nbackend: {\n  url: s3://ours\n}\n" },
  ],
  [
    "a blank line and comments",
    { "Pulumi.yaml": "backend: # ours\n\n  # here\n  other: 1\n  url: 's3://ours' # x\n" },
  ],
  ["quoted keys", { "Pulumi.yaml": '"backend":\n  "url": s3://ours\n' }],
  ["an anchor", { "Pulumi.yaml": "x: &a\n  url: s3://ours\nbackend: *a\n" }],
  ["a merged key", { "Pulumi.yaml": "x: &a\n  url: s3://ours\nbackend:\n  <<: *a\n" }],
  [
    "CRLF and a byte order mark",
    { "Pulumi.yaml": `\uFEFF${BLOCK.replaceAll("\n", "\r\n")}` },
  ],
  [
    "the first of two documents",
    { "Pulumi.yaml": `${BLOCK}---\nbackend:\n  url: s3://other\n` },
  ],
  ["Pulumi.yml", { "Pulumi.yml": BLOCK }],
  ["Pulumi.json", { "Pulumi.json": JSON_FILE }],
  [
    "JSON before YAML",
    { "Pulumi.json": JSON_FILE, "Pulumi.yaml": BLOCK.replace("ours", "other") },
  ],
  [
    ".yaml before .yml",
    { "Pulumi.yaml": BLOCK, "Pulumi.yml": BLOCK.replace("ours", "other") },
  ],
  [
    "a project without it",
    { "Pulumi.yaml": "name: x\n", "Pulumi.yml": BLOCK },
    "https://api.pulumi.com",
  ],
  ["an empty file", { "Pulumi.json": "", "Pulumi.yaml": BLOCK }, "https://api.pulumi.com"],
  ["an empty one", { "Pulumi.yaml": 'backend:\n  url: ""\n' }, "https://api.pulumi.com"],
  ["none in it", { "Pulumi.yaml": "name: backend\nbackend:\n" }, "https://api.pulumi.com"],
])("the backend in a project's file: %s", (_, files, expected = "s3://ours") => {
  expect(projectWith(files).backend()).toBe(expected);
});

it("a project file or a login that can't be read names no backend: a wrong guess is harmless", () => {
  const { home, project, backend } = projectWith({ "Pulumi.yaml": "backend: [" });
  const encrypted = '{"$pulumiSecureStore":1,"backend":"keyring","data":"x"}';
  expect(backend()).toBe("https://api.pulumi.com");
  writeFileSync(join(home, "mine.json"), encrypted);
  expect(backend()).toBe("");
  writeFileSync(join(home, "mine.json"), "no JSON");
  rmSync(join(project, "Pulumi.yaml"));
  expect(backend()).toBe("");
});

it("a stack's place has no organization, which a plugin isn't told", () => {
  const environment = { PULUMI_BACKEND_URL: "s3://x" };
  expect(stackPlace("acme/shop/dev", environment, PROGRAM)).toEqual({
    stack: "shop/dev",
    backend: "s3://x",
  });
});

it.each(["link", "real?metadata=skip", "link?no_tmp_dir=true", "real/"])(
  "a file backend is one place in any spelling: %s",
  (spelling) => {
    const folder = realpathSync(newFolder());
    mkdirSync(join(folder, "real"));
    symlinkSync("real", join(folder, "link"));
    const at = (name: string) => {
      const environment = { PULUMI_BACKEND_URL: `file://${folder}/${name}` };
      return stackPlace("o/shop/dev", environment, PROGRAM).backend;
    };
    expect(at(spelling)).toBe(`file://${folder}/real`);
    expect(at("none")).toBe(`file://${folder}/none`);
  },
);

it("a journal's file is named for its place and run; what isn't is another's", () => {
  const place = { stack: "shop/dev", backend: "s3://x" };
  const path = (more: object, run = "AbC-_1") =>
    journalPath({ ...place, ...more, run }, "/f");
  expect(path({})).toMatch(/^\/f\/[\da-f]{16}\.AbC-_1\.jsonl$/);
  const places = [{}, { stack: "shop/prod" }, { backend: "s3://y" }].map((more) =>
    path(more),
  );
  expect(new Set(places).size).toBe(3);

  const folder = newFolder();
  const write = (name: string) => writeFileSync(join(folder, name), "");
  const [ours, another, foreign] = [
    path({}),
    path({}, "other"),
    path({ backend: "s3://y" }, "named"),
  ].map((each) => basename(each));
  for (const name of [ours, another, foreign, `${ours}.lock`, "deleted.lines", "x.jsonl"])
    write(name ?? "");
  const found = (...runs: string[]) =>
    findJournals({ folder }, place, new Set(runs)).map(({ path, isOurs }) => {
      return `${basename(path)} ${isOurs}`;
    });
  const all = [`${ours} true`, `${another} true`];
  expect(found()).toEqual([...all, `${foreign} false`, "x.jsonl false"].toSorted());
  expect(found("named")).toEqual([...all, `${foreign} true`, "x.jsonl false"].toSorted());
  expect(findJournals({ folder: join(folder, "none") }, place, new Set())).toEqual([]);
});

it("sessions of one account share a file in any spelling; others have their own", () => {
  const settings = {
    baseUrl: "https://p.example",
    email: "a@example.com",
    keepLoggedIn: false,
    authenticatePath: "r",
  };
  const file = (more: object) =>
    cookieFileFor({ ...settings, ...more } as Settings, "/program");
  const same = [{}, { baseUrl: "http://p.example" }, { email: "A@example.com" }].map(file);
  expect(new Set(same).size).toBe(1);
  const others = [
    { baseUrl: "https://q.example" },
    { email: "b@" },
    { keepLoggedIn: true },
    { authenticatePath: "2" },
  ];
  expect(new Set([...same, ...others.map(file)]).size).toBe(5);
  expect(file({ cookieFile: "none" })).toBeUndefined();
  expect(file({ cookieFile: "here.json" })).toBe("/program/here.json");
  expect(file({ cookieFile: "~/ads/session.json" })).toBe(
    join(homedir(), "ads/session.json"),
  );
  expect(file({ cookieFile: "a~/b.json" })).toBe("/program/a~/b.json");
});
