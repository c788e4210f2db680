/** The Pulumi CLI, as the commands use it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { printable } from "../base/index.js";
import { environmentNameOf, NAMESPACE, type Settings } from "../settings/index.js";

/** Where the stack is, as options for `pulumi`: `--stack`, `--cwd`. */
export type StackOptions = readonly string[];

/** Runs it. @param input for its standard input. @throws Error with what it said. */
export async function pulumi(args: readonly string[], input = ""): Promise<string> {
  const running = promisify(execFile)("pulumi", [...args, "--non-interactive"], {
    maxBuffer: 1024 ** 3,
    encoding: "utf8",
  });
  // Where it ends without having read all of it, its exit code and what it said tell why.
  running.child.stdin?.on("error", () => {}).end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT") throw new Error("the `pulumi` command was not found; install it, or give --file");
    throw new Error(`\`pulumi ${args.slice(0, 2).join(" ")}\` failed: ${printable(stderr ?? String(error))}`);
  }
}

/** A setting as runs would read it, unchecked. Set nowhere, `pulumi config get` fails. */
export async function settingOf(key: keyof Settings, stack: StackOptions): Promise<string | undefined> {
  const configured = await pulumi(["config", "get", `${NAMESPACE}:${key}`, ...stack]).catch(() => undefined);
  return configured?.trim() ?? process.env[environmentNameOf(key)];
}

/** `<organization>/<project>/<stack>`; none where the backend does not tell. */
export async function stackName(stack: StackOptions): Promise<string | undefined> {
  const name = await pulumi(["stack", "--show-name", "--fully-qualify-stack-names", ...stack]).catch(() => undefined);
  return name?.trim();
}

/** The stack's settings of our namespace, by key, as its programs read them; secrets in plain. */
export async function stackSettings(
  stack: StackOptions,
): Promise<ReadonlyMap<string, { readonly value: string; readonly secret: boolean }>> {
  const printed = await pulumi(["config", "--json", "--show-secrets", ...stack]);
  const entries = Object.entries(JSON.parse(printed) as Record<string, { value: string; secret: boolean }>);
  const prefix = `${NAMESPACE}:`;
  return new Map(
    entries.filter(([key]) => key.startsWith(prefix)).map(([key, entry]) => [key.slice(prefix.length), entry]),
  );
}
