/** The engine's process among the ancestors, and what its command line says about the run. */
import { execFileSync, spawn } from "node:child_process";
import { copyFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { engineOf, type System, thisSystem } from "../../provider/src/record/engine.js";
import { matchesTarget, runOf } from "../../provider/src/record/engine-run.js";
import { newFolder } from "../support/folder.js";

/** A process: its number, its parent's, its program's path, its arguments. */
type Process = [pid: number, parent: number, path: string, args?: string[]];

function systemOf(platform: NodeJS.Platform, processes: Process[]): System {
  const found = (pid: string) => {
    const process = processes.find(([each]) => String(each) === pid);
    if (!process) throw new Error("ENOENT");
    const [, parent, path, args = []] = process;
    return { parent, path, args };
  };
  const inProc = (path: string) => {
    const [, , pid = "", file] = path.split("/");
    return { ...found(pid), file };
  };
  return {
    platform,
    parent: processes[0]?.[0] ?? 0,
    readlink: (path) => {
      const process = inProc(path);
      return process.file === "cwd" ? "/home/ada/shop" : process.path;
    },
    readFile: (path) => {
      const { file, parent, args } = inProc(path);
      if (file === "stat") return `7 (a (b) c) S ${parent} ${"0 ".repeat(17)}1234 0`;
      return ["pulumi", ...args].map((each) => `${each}\0`).join("");
    },
    exec: (file, words) => {
      const { parent, path, args } = found(words[words.indexOf("-p") + 1] ?? "");
      if (file === "lsof")
        return `p7\nfcwd\nn/home/ada/shop\nftxt\nn${path}\nftxt\nn/usr/lib/dyld\n`;
      if (words.includes("lstart=")) return "1234\n";
      if (words.includes("args=")) return `pulumi ${args.join(" ")}\n`;
      return `  ${parent} ${basename(path)}\n`;
    },
  };
}

const PULUMI = "/usr/local/bin/pulumi";
const UP = ["up", "--stack", "acme/shop/dev"];
const ENGINE = { executable: PULUMI, folder: "/home/ada/shop", args: UP, id: "70 1234" };
const DYNAMIC: Process[] = [
  [90, 80, "/bin/sh"],
  [80, 70, "/plugins/pulumi-resource-pulumi-nodejs"],
];

describe.each(["linux", "darwin"] as const)("the engine on %s", (platform) => {
  it.each<[string, Process[], object | undefined]>([
    ["is a plugin's parent", [[70, 60, PULUMI, UP]], ENGINE],
    ["is further up", [...DYNAMIC, [70, 60, PULUMI, UP], [60, 1, "/bin/bash"]], ENGINE],
    [
      "is the nearest",
      [
        [70, 60, PULUMI, UP],
        [60, 1, "/other/pulumi", ["destroy"]],
      ],
      ENGINE,
    ],
    [
      "started by Nix",
      [[70, 1, "/nix/store/x/bin/.pulumi-wrapped", UP]],
      { ...ENGINE, executable: "/nix/store/x/bin/.pulumi-wrapped" },
    ],
    ["is not there", [...DYNAMIC, [70, 0, "/sbin/init"]], undefined],
    ["can't be seen", DYNAMIC, undefined],
  ])("%s", (_, processes, engine) => {
    expect(engineOf(systemOf(platform, processes))).toEqual(engine);
  });
});

it("the engine is known although its file was replaced since; on Windows it isn't known", () => {
  const processes: Process[] = [[70, 1, `${PULUMI} (deleted)`, UP]];
  expect(engineOf(systemOf("linux", processes))).toEqual(ENGINE);
  expect(engineOf(systemOf("win32", [[70, 1, PULUMI, UP]]))).toBeUndefined();
});

function hasCommand(name: string) {
  try {
    execFileSync("which", [name], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const PLATFORMS = (["linux", "darwin"] as const).filter(
  (platform) =>
    process.platform === platform ||
    (process.platform === "linux" && ["ps", "lsof"].every(hasCommand)),
);

it.each(PLATFORMS)("real processes, as %s tells of them", async (platform) => {
  const folder = newFolder();
  const executable = join(folder, "pulumi");
  copyFileSync("/bin/sh", executable);
  // Until a child has begun its own program, it looks like its parent.
  const args = ["-c", "/bin/sh -c 'echo $$; exec sleep 60' & wait", "up"];
  const engine = spawn(executable, args, {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const sleeper = await new Promise<number>((resolve) => {
    engine.stdout.once("data", (data) => resolve(Number(data)));
  });
  onTestFinished(() => {
    process.kill(sleeper);
    engine.kill();
  });
  const found = engineOf({ ...thisSystem, platform, parent: sleeper });
  expect(found).toMatchObject({ executable, folder });
  expect(found?.args.join(" ")).toBe(args.join(" "));
});

describe("a run", () => {
  const NONE = {
    command: "",
    stack: undefined,
    targets: [],
    excludes: [],
    hasDependents: false,
    hasPolicies: false,
    isInline: false,
  };

  it.each<[string, object]>([
    ["", {}],
    ["up", { command: "up" }],
    ["update -y", { command: "up" }],
    ["pre", { command: "preview" }],
    ["dn", {}],
    ["down", {}],
    ["refresh --run-program", { command: "refresh" }],
    ["stack export", {}],
    ["-C shop up", { command: "up" }],
    ["--cwd shop --color never -v 9 --stack dev up", { command: "up", stack: "dev" }],
    ["--cwd=shop --non-interactive -v=9 up", { command: "up" }],
    ["--logtostderr up", { command: "up" }],
    ["up --stack dev", { command: "up", stack: "dev" }],
    ["up --stack=acme/shop/dev", { command: "up", stack: "acme/shop/dev" }],
    ["up -s dev", { command: "up", stack: "dev" }],
    ["up -sdev", { command: "up", stack: "dev" }],
    ["up -s=dev", { command: "up", stack: "dev" }],
    ["up -yfs dev", { command: "up", stack: "dev" }],
    ["up -f", { command: "up" }],
    ["up --skip-preview", { command: "up" }],
    ["up --skip-preview=false --yes", { command: "up" }],
    ["up -xf -tf", { command: "up", targets: ["f"], excludes: ["f"] }],
    ["up -ysdev", { command: "up", stack: "dev" }],
    ["up --stack one --stack two", { command: "up", stack: "two" }],
    ["up --stack", { command: "up" }],
    ["up -m --stack dev", { command: "up" }],
    ["up -r --refresh --stack dev", { command: "up", stack: "dev" }],
    ["up -r=true -s dev", { command: "up", stack: "dev" }],
    ["up --attach-debugger --suppress-permalink -s dev", { command: "up", stack: "dev" }],
    [
      "up --client=127.0.0.1:1 --exec-kind auto.inline -s dev",
      { command: "up", stack: "dev", isInline: true },
    ],
    ["up -- --stack dev", { command: "up" }],
    ["up - -s dev", { command: "up", stack: "dev" }],
    [
      "up -t a --target b --target=c -td --target-replace e --replace f",
      { command: "up", targets: ["a", "b", "c", "d", "e"] },
    ],
    [
      "destroy -x a --exclude=b --exclude-dependents",
      { excludes: ["a", "b"], hasDependents: true },
    ],
    [
      "up --target a --target-dependents",
      { command: "up", targets: ["a"], hasDependents: true },
    ],
    ["up -t a --target-dependents=false", { command: "up", targets: ["a"] }],
    [
      "up --policy-pack ../policy -s dev",
      { command: "up", stack: "dev", hasPolicies: true },
    ],
    ["preview --policy-pack=up", { command: "preview", hasPolicies: true }],
    ["up -t a,b", { command: "up", targets: ["a,b"] }],
  ])("pulumi %s", (words, run) => {
    const args = words.split(" ").filter((word) => word !== "");
    expect(runOf(args)).toEqual({ ...NONE, ...run });
  });
});

describe("targets", () => {
  const URN =
    "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEvent::a (b)";

  it.each<[string, boolean]>([
    [URN, true],
    [`${URN}x`, false],
    ["", false],
    ["**", true],
    ["*", false],
    ["**::a (b)", true],
    ["**::a", false],
    ["**ConversionEvent::*", true],
    ["urn:pulumi:*::shop::**::a*", true],
    ["urn:pulumi:*::**:Advertiser::*", false],
    ["urn:pulumi:dev::*::a (b)", false],
    ["urn:pulumi:dev::shop::*:dynamic/advertising:*::a (b)", true],
    ["urn.pulumi**", false],
  ])("%s: %j", (pattern, isMatch) => {
    expect(matchesTarget(URN, [pattern])).toBe(isMatch);
    expect(matchesTarget(URN, ["other", pattern])).toBe(isMatch);
  });

  it("no pattern matches nothing", () => {
    expect(matchesTarget(URN, [])).toBe(false);
  });
});
