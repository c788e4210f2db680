/** Where this package's files are kept between runs, on each operating system. */
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { cacheFolder, stateFolder } from "../../provider/src/files/index.js";

afterEach(() => vi.unstubAllGlobals());

it.each<[NodeJS.Platform, NodeJS.ProcessEnv, string]>([
  ["linux", {}, "/home/ann/.cache/pulumi-advertising"],
  ["linux", { XDG_CACHE_HOME: "" }, "/home/ann/.cache/pulumi-advertising"],
  ["linux", { XDG_CACHE_HOME: "/var/cache/ann" }, "/var/cache/ann/pulumi-advertising"],
  ["freebsd", {}, "/home/ann/.cache/pulumi-advertising"],
  [
    "darwin",
    { XDG_CACHE_HOME: "/var/cache/ann" },
    "/home/ann/Library/Caches/pulumi-advertising",
  ],
  ["win32", {}, "/home/ann/AppData/Local/pulumi-advertising/Cache"],
  ["win32", { LOCALAPPDATA: "/profile/local" }, "/profile/local/pulumi-advertising/Cache"],
])("%s with %o", (platform, env, folder) => {
  vi.stubGlobal("process", { env, platform });
  expect(cacheFolder()).toBe(join(folder.replace("/home/ann", homedir())));
});

it.each<[NodeJS.Platform, NodeJS.ProcessEnv, string]>([
  ["linux", {}, "/home/ann/.local/state/pulumi-advertising"],
  ["linux", { XDG_STATE_HOME: "" }, "/home/ann/.local/state/pulumi-advertising"],
  ["linux", { XDG_STATE_HOME: "/states" }, "/states/pulumi-advertising"],
  ["darwin", {}, "/home/ann/Library/Application Support/pulumi-advertising"],
  ["win32", {}, "/home/ann/AppData/Local/pulumi-advertising"],
  ["win32", { LOCALAPPDATA: "/profile/local" }, "/profile/local/pulumi-advertising"],
])("what must not be lost: %s with %o", (platform, env, folder) => {
  vi.stubGlobal("process", { env, platform });
  expect(stateFolder()).toBe(join(folder.replace("/home/ann", homedir())));
});
