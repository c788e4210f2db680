import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "./server-process.mjs";

const USER = "pulumi";
/** Where Debian and its like keep the server, off the PATH. */
const DEBIAN = "/usr/lib/postgresql";
/** PostgreSQL refuses to run as root: then it runs as `nobody`, by its usual numbers. */
const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** The folder of `initdb` and `postgres`, with a slash at its end; empty for the PATH, undefined where they are not installed. */
const programs = ["", ...debianFolders()].find((folder) =>
  ["initdb", "postgres"].every((name) => spawnSync(`${folder}${name}`, ["--version"]).status === 0),
);

/** Why there is no PostgreSQL to be had on this machine; undefined where there is. */
export const whyNoPostgres =
  programs === undefined ? "PostgreSQL's programs initdb and postgres are not installed" : undefined;

/**
 * Starts a real server with a database of its own on a free loopback port.
 * @returns {Promise<{ backendUrl: string, env: Record<string, string>, close: () => Promise<void> }>} as Pulumi takes it
 */
export async function startPostgres() {
  const folder = mkdtempSync(join(tmpdir(), "postgres-"));
  const inFolder = (name) => join(folder, name);
  const options = { ...asNobody, cwd: folder, env: { ...process.env, HOME: folder, LC_ALL: "C" } };
  const password = randomBytes(16).toString("hex");
  writeFileSync(inFolder("password"), password, { mode: 0o600 });
  for (const path of asNobody.uid === undefined ? [] : [folder, inFolder("password")]) {
    chownSync(path, asNobody.uid, asNobody.gid);
  }
  const settings = ["--auth=scram-sha-256", `--pwfile=${inFolder("password")}`, "--encoding=UTF8", "--no-sync"];
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    execFileSync(`${programs}initdb`, ["-D", inFolder("data"), "-U", USER, ...settings], { ...options, stdio: "pipe" });
    const port = await freePort();
    const server = await startServer(
      `${programs}postgres`,
      ["-D", inFolder("data"), "-p", String(port), "-h", "127.0.0.1", "-k", "", "-c", "log_min_messages=log"],
      { ...options, ready: /ready to accept connections/, signal: "SIGINT" }, // SIGINT: without waiting for its clients
    );
    return {
      backendUrl: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres?sslmode=disable`,
      env: {},
      close: async () => {
        await server.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** PostgreSQL can't be told to take any free port. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function debianFolders() {
  try {
    return readdirSync(DEBIAN)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(DEBIAN, version, "bin/"));
  } catch {
    return []; // not such a system
  }
}
