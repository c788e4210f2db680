import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { goOptions } from "./go-build.mjs";
import { inRoot, localFolder, programName } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { ask, run } from "./run.mjs";
import { startServer } from "./server-process.mjs";

const NAME = "s3-server";
const BUCKET = "state";
const KEY = { AWS_ACCESS_KEY_ID: "key-of-a-test", AWS_SECRET_ACCESS_KEY: "secret-of-a-test" };

/** Why there is no object store to be had on this machine; undefined where there is. */
export const whyNoS3 =
  ask("go", ["version"]) === undefined ? "Go, which builds the object store, is not installed" : undefined;

/**
 * Builds (Go keeps what it has compiled) and starts a real S3-compatible server, rclone's, on a free loopback port.
 * @returns {Promise<{ backendUrl: string, env: Record<string, string>, stored: (path: string) => string, close: () => Promise<void> }>}
 *   as Pulumi takes it; `stored`: where the server keeps an object of the bucket
 */
export async function startS3() {
  const program = await build();
  const folder = mkdtempSync(join(tmpdir(), "s3-"));
  mkdirSync(join(folder, BUCKET));
  try {
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = KEY;
    const { match, close } = await startServer(
      program,
      ["serve", "s3", "--addr", "127.0.0.1:0", "--auth-key", `${id},${secret}`, folder],
      { ready: /Starting s3 server on \[(http:\/\/[^\]/]+)/, env: { ...process.env, RCLONE_CONFIG: "" } },
    );
    return {
      backendUrl: `s3://${BUCKET}?endpoint=${match[1]}&s3ForcePathStyle=true&region=us-east-1`,
      // The server sends no checksums, and Pulumi's client would warn of that with each answer.
      env: { ...KEY, AWS_RESPONSE_CHECKSUM_VALIDATION: "when_required" },
      stored: (path) => join(folder, BUCKET, path),
      close: async () => {
        await close();
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    throw error;
  }
}

async function build() {
  const folder = join(localFolder, "tools");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, programName(NAME));
  // Without what only debuggers need, as the engine is built.
  const args = ["build", "-mod=readonly", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-o", file, "."];
  const { exitCode, output } = await run("go", args, { ...goOptions(NAME), cwd: inRoot("tools", NAME), capture: true });
  if (exitCode !== 0) throw new Problem(`${output}\nGo could not build ${NAME}: see its message above.`);
  return file;
}
