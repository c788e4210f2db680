/** Where the files of a run stand, and what is known of deleted objects. */
import { appendFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { JournalError } from "../../provider/src/base/index.js";
import {
  backendIn,
  cookieFileFor,
  deletedObjects,
  journalPath,
} from "../../provider/src/journal/index.js";
import type { Settings } from "../../provider/src/settings/index.js";
import { newFolder } from "../support/folder.js";

const PROGRAM = "/programs/tiny";

type Environment = Record<string, string>;
const placesOf = (...environments: Environment[]) =>
  environments.map((each) => backendIn(each, PROGRAM));

it.each([
  ["file://~", `file://${homedir()}/`, " file://~/ "],
  ["file://.", "file://./", "file:///programs/tiny", "file://../tiny/."],
  ["s3://bucket?region=eu&profile=x", "s3://bucket/?profile=x&region=eu"],
  ["s3://bucket/a%20b?endpoint=h%3A1", "s3://bucket/a%20b/?endpoint=h:1"],
  ["https://api.pulumi.com", "https://api.pulumi.com/"],
  [
    "postgres://db.example/states",
    "postgres://ann:pa$$@ss@db.example/states",
    "postgres://bob@db.example/states",
  ],
  [
    "postgres:///states?host=db",
    "postgres:///states?host=db&password=pa$$&sslpassword=pa$$",
  ],
])("%s in other spellings is one place, and tells no secret", (...urls) => {
  const places = placesOf(...urls.map((PULUMI_BACKEND_URL) => ({ PULUMI_BACKEND_URL })));
  expect(new Set(places).size).toBe(1);
  expect(places[0]).not.toMatch(/~|ann|pa\$|pa%24/);
});

const url = (PULUMI_BACKEND_URL: string, more: Environment = {}) => ({
  PULUMI_BACKEND_URL,
  ...more,
});

it.each<[what: string, ...Environment[]]>([
  [
    "an endpoint",
    url("s3://state?endpoint=127.0.0.1:1"),
    url("s3://state?endpoint=127.0.0.1:2"),
  ],
  ["a query", url("s3://state"), url("s3://state?prefix=a"), url("s3://state?prefix=b")],
  [
    "a name behind a blank",
    url("file:///my states"),
    url("file:///my"),
    url("file:///my other states"),
  ],
  [
    "an Azure account",
    url("azblob://state?storage_account=a"),
    url("azblob://state?storage_account=b"),
  ],
  ["a table", url("postgres://db/states?table=a"), url("postgres://db/states?table=b")],
  [
    "S3's endpoint in the environment",
    url("s3://state"),
    url("s3://state", { AWS_ENDPOINT_URL: "http://a" }),
    url("s3://state", { AWS_ENDPOINT_URL: "http://b" }),
    url("s3://state", { AWS_ENDPOINT_URL: "http://b", AWS_ENDPOINT_URL_S3: "http://c" }),
    // A profile may name an endpoint, and another file another profile of that name.
    url("s3://state", { AWS_PROFILE: "a" }),
    url("s3://state", { AWS_PROFILE: "b" }),
    url("s3://state", { AWS_DEFAULT_PROFILE: "b" }),
    url("s3://state", { AWS_PROFILE: "b", AWS_CONFIG_FILE: "/other" }),
  ],
  [
    "Azure's account in the environment",
    url("azblob://state"),
    url("azblob://state", { AZURE_STORAGE_ACCOUNT: "a" }),
    url("azblob://state", {
      AZURE_STORAGE_ACCOUNT: "a",
      AZURE_STORAGE_DOMAIN: "blob.core.chinacloudapi.cn",
    }),
    url("azblob://state", {
      AZURE_STORAGE_CONNECTION_STRING: "AccountName=b;AccountKey=KEY==",
    }),
    url("azblob://state", {
      AZURE_STORAGE_CONNECTION_STRING: "AccountName=c;AccountKey=KEY==",
    }),
  ],
  [
    "Google's emulator",
    url("gs://state"),
    url("gs://state", { STORAGE_EMULATOR_HOST: "127.0.0.1:1" }),
  ],
  [
    "PostgreSQL's host",
    url("postgres:///states"),
    url("postgres:///states", { PGHOST: "db" }),
  ],
])("backends that differ in %s are different places", (_, ...environments) => {
  const places = placesOf(...environments);
  expect(new Set(places).size).toBe(places.length);
  expect(places.join()).not.toContain("KEY");
});

it("the environment of other stores, and a connection string's key, say nothing about the place", () => {
  const others = {
    AWS_ENDPOINT_URL: "http://a",
    AZURE_STORAGE_ACCOUNT: "a",
    STORAGE_EMULATOR_HOST: "b",
  };
  expect(placesOf(url("file:///x", others))).toEqual(placesOf(url("file:///x")));
  const [first, second] = placesOf(
    ...["KEY1", "KEY2"].map((key) =>
      url("azblob://state", {
        AZURE_STORAGE_CONNECTION_STRING: `AccountName=b;AccountKey=${key}`,
      }),
    ),
  );
  expect(first).toBe(second);
});

it("a relative backend of another program is another one", () => {
  const environment = { PULUMI_BACKEND_URL: "file://./states" };
  expect(backendIn(environment, "/programs/one")).not.toBe(
    backendIn(environment, "/programs/two"),
  );
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
    "a query and a blank",
    { "Pulumi.yaml": "backend:\n  url: s3://ours?prefix=a b&endpoint=h\n" },
    "s3://ours?endpoint=h&prefix=a+b",
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

it.each<[what: string, Record<string, string>, words: RegExp]>([
  [
    "a file that is no YAML",
    { "Pulumi.yaml": "backend: [" },
    /Pulumi\.yaml can't be read: .+\. The file may name/,
  ],
])("a backend that is not understood stops: %s", (_, files, words) => {
  const { backend } = projectWith(files);
  expect(() => backend()).toThrow(JournalError);
  expect(() => backend()).toThrow(words);
  expect(() => backend()).toThrow(/^Nothing was sent: /);
  expect(backend({ PULUMI_BACKEND_URL: "s3://x" })).toBe("s3://x");
});

it("a login that is encrypted stops, and names the way on", () => {
  const { home, backend } = projectWith({});
  writeFileSync(
    join(home, "mine.json"),
    '{"$pulumiSecureStore":1,"backend":"keyring","data":"x"}',
  );
  expect(() => backend()).toThrow(
    /Set PULUMI_BACKEND_URL to the address that `pulumi whoami --verbose` prints/,
  );
  expect(backend({ PULUMI_BACKEND_URL: "s3://x" })).toBe("s3://x");
});

it("the stack's provider resources have journals of their own", () => {
  const place = { backend: "file:///states", stack: "organization/shop/dev" };
  expect(journalPath({ ...place, provider: "default" })).toBe(journalPath(place));
  expect(journalPath({ ...place, provider: "second" })).not.toBe(journalPath(place));
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

it("deleted objects are known to later runs of the account; of a torn or unusable file less is known", () => {
  const folder = newFolder();
  const objectsOf = (account: string, former?: string, at = folder) =>
    deletedObjects(at, account, (recorded) =>
      [account, former].includes(recorded as string),
    );
  const known = (account = "a", former?: string) =>
    ["1", "2"].map((id) => objectsOf(account, former).has("ConversionEvent", id));
  objectsOf("a").add("ConversionEvent", "1");
  expect([known(), known("b"), known("b", "a")].flat()).toEqual([
    true,
    false,
    false,
    false,
    true,
    false,
  ]);
  expect(objectsOf("a").has("Advertiser", "1")).toBe(false);
  appendFileSync(join(folder, "deleted.lines"), 'half\n{"deleted":"ConversionEvent 2');
  expect(known()).toEqual([true, false]);
  objectsOf("a").add("ConversionEvent", "2");
  expect(known()).toEqual([true, true]);
  const nowhere = objectsOf("a", undefined, "/dev/null");
  nowhere.add("ConversionEvent", "1");
  expect(nowhere.has("ConversionEvent", "1")).toBe(true);
});
