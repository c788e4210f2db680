/** What a release says about itself, and the archives that it writes. */
import { execFile, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it, onTestFinished, vi } from "vitest";
import { Problem } from "../../scripts/lib/base.mjs";
import { LAUNCHER } from "../../scripts/release/archives.mjs";
import { writeBundle } from "../../scripts/release/bundle.mjs";
import { writePages } from "../../scripts/release/docs.mjs";
import { factsOf } from "../../scripts/release/facts.mjs";
import { goProgram, readmeOf, writeReadme } from "../../scripts/release/readme.mjs";
import { metaschema, schemaOf } from "../../scripts/release/schema.mjs";
import { fileIn, tarOf } from "../../scripts/release/tar.mjs";
import { newFolder } from "../support/folder.js";
import { codeBlocksOf } from "../support/pages.js";

const run = promisify(execFile);
const OURS = { GITHUB_REPOSITORY: "acme/pulumi-advertising" };

it("names the repository that runs it, and no other", () => {
  const { version } = factsOf({});
  const of = (environment: object) => JSON.parse(schemaOf(factsOf(environment)));
  expect(JSON.stringify(of({}))).not.toMatch(/github\.com|pluginDownloadURL|"repository"/);
  expect(of(OURS)).toMatchObject({
    version,
    repository: "https://github.com/acme/pulumi-advertising",
    pluginDownloadURL: "github://api.github.com/acme/pulumi-advertising",
    language: {
      go: { importBasePath: "github.com/acme/pulumi-advertising/sdk/go/advertising" },
    },
  });
});

it.each([
  [
    { ...OURS, GITHUB_SERVER_URL: "nonsense" },
    'GITHUB_SERVER_URL: expected https://…, got "nonsense".',
  ],
  [
    { GITHUB_REPOSITORY: "nonsense" },
    'GITHUB_REPOSITORY: expected owner/name, got "nonsense".',
  ],
])("what isn't an address is a message: %j", (environment, message) => {
  expect(() => factsOf(environment)).toThrow(new Problem(message));
});

it.skipIf(process.platform === "win32")(
  "the plugin's launcher finds its Node.js, also by symbolic links",
  async () => {
    const folder = realpathSync(newFolder());
    const place = join(folder, "own place");
    for (const name of ["own place", "bin", "other"]) mkdirSync(join(folder, name));
    const script = (name: string, text: string) =>
      writeFileSync(join(place, name), text, { mode: 0o755 });
    script("launcher", LAUNCHER);
    script("node", `#!/bin/sh\necho "$@"\n`);
    symlinkSync(join(place, "launcher"), join(folder, "bin", "absolute"));
    symlinkSync("../bin/absolute", join(folder, "other", "relative"));
    for (const path of ["own place/launcher", "bin/absolute", "other/relative"]) {
      const { stdout } = await run(join(folder, path), ["127.0.0.1:1"]);
      expect(stdout).toBe(`${join(place, "plugin.cjs")} 127.0.0.1:1\n`);
    }
    const { stdout } = await run("absolute", ["x"], {
      env: { PATH: `${folder}/bin:/bin:/usr/bin` },
    });
    expect(stdout).toBe(`${join(place, "plugin.cjs")} x\n`);
  },
);

it("a bundle's messages name an address of this version's page, or the page beside it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bundle-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "plugin.cjs");
  const messageFrom = async (environment: object) => {
    const facts = factsOf(environment);
    const licenses = await writeBundle(file, { facts, schema: schemaOf(facts) });
    expect(licenses).toContain("undici");
    const { stdout } = await run("node", [file, "--version"]);
    expect(stdout.trim()).toBe(facts.version);
    return run("node", [file, "nothing"]).catch(({ stderr }) => stderr);
  };
  const command = "pulumi plugin run --kind resource advertising@";
  const { version } = factsOf({});
  const page = join(realpathSync(folder), "docs", "messages.md");
  expect(await messageFrom({})).toMatch(
    `See \`${command}${version} -- --help\` (${page}#advertising_usage) [ADVERTISING_USAGE]`,
  );
  const { stdout: help } = await run("node", [file, "--help"]);
  expect(help).toMatch(`Usage: ${command}${version} -- <command> [options]\n`);
  expect(await messageFrom(OURS)).toMatch(
    `(https://github.com/acme/pulumi-advertising/blob/v${version}/docs/messages.md#advertising_usage)`,
  );
});

it("the metaschema comes from Go, whose cache may be empty; without Go or network the reason is known", async ({
  skip,
}) => {
  onTestFinished(() => void vi.unstubAllEnvs());
  const { stdout } = spawnSync("go", ["env", "GOMODCACHE"], { encoding: "utf8" });
  const modules = pathToFileURL(join(stdout?.trim() ?? "", "cache", "download"));
  const { PATH } = process.env;
  vi.stubEnv("PATH", newFolder());
  expect(await metaschema()).toEqual({ reason: "there is no Go on this machine" });
  vi.stubEnv("PATH", PATH);
  vi.stubEnv("GOMODCACHE", newFolder());
  vi.stubEnv("GOFLAGS", "-modcacherw");
  vi.stubEnv("GOPROXY", "off");
  const offline = await metaschema();
  skip(!offline.reason?.includes("GOPROXY=off"), `Go can't be used: ${offline.reason}`);
  vi.stubEnv("GOPROXY", modules.href);
  const { file, reason } = await metaschema();
  skip(reason !== undefined, `Pulumi's module isn't there: ${reason}`);
  expect(existsSync(file ?? "")).toBe(true);
});

it("a tar archive has what was put into it", () => {
  const content = Buffer.alloc(1000, "x");
  const tar = tarOf([
    { name: "empty", content: "" },
    { name: "folder/file", content, isExecutable: true },
  ]);
  expect(tar.length % 512).toBe(0);
  expect(fileIn(tar, "/file")).toEqual(content);
  expect(fileIn(tar, "/other")).toBeUndefined();
});

it("the release's README names its own files, and its commands are a shell's", async () => {
  const out = newFolder();
  const facts = factsOf({});
  writeReadme({ facts, out });
  const text = readFileSync(join(out, "README.md"), "utf8");
  expect(text).toContain(`/pulumi-advertising-${facts.version}.tgz`);
  expect(text).toContain(
    `/pulumi-resource-advertising-v${facts.version}-linux-amd64.tar.gz`,
  );
  expect(text).not.toContain("undefined");
  const blocks = codeBlocksOf({ path: "README.md", text });
  expect(blocks.map(({ language }) => language)).toEqual(Array(6).fill("sh"));
  for (const { code } of blocks) await run("sh", ["-nc", code]);
  const [, , , typescript] = blocks;
  expect(typescript?.code).toContain('from "pulumi-advertising";');
});

it.each([
  [{}, "pulumi-advertising/sdk"],
  [OURS, "github.com/acme/pulumi-advertising/sdk"],
])(
  "the README of the SDK for Go, for %j, has one module path, and its own folder in its place",
  (environment, path) => {
    const facts = factsOf(environment);
    const text = readmeOf("go", facts);
    expect(text).toContain(goProgram(facts));
    expect(text).toContain(`go mod edit -replace=${path}/go/advertising=`);
    const paths = text.match(/[\w./-]+\/go\/advertising/g);
    expect(new Set(paths)).toEqual(new Set([`${path}/go/advertising`]));
  },
);

it("packed pages have no dead link: one that leaves their folder leads to the repository, or is only text", () => {
  const folder = join(newFolder(), "docs");
  const linksFor = (environment: object) => {
    writePages(folder, factsOf(environment));
    const names = readdirSync(folder);
    expect(names).toContain("messages.md");
    const texts = names.map((name) => readFileSync(join(folder, name), "utf8"));
    const links = texts.flatMap((text) => [...text.matchAll(/\]\(([^)#]+)/g)]);
    const targets = new Set(links.map(([, target = ""]) => target));
    return [...targets].filter((target) => !names.includes(target));
  };
  const { version } = factsOf({});
  const isAddress = (target: string) => target.startsWith("https://");
  expect(linksFor({}).filter((target) => !isAddress(target))).toEqual([]);
  const ours = linksFor(OURS);
  expect(ours.every(isAddress)).toBe(true);
  expect(ours).toContain(
    `https://github.com/acme/pulumi-advertising/blob/v${version}/examples/catalog`,
  );
});
