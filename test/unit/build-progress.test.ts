/** What the set-up prints while it builds the Pulumi CLI from source, and how its parts end together. Go is not needed here. */
import { describe, expect, it } from "vitest";
import {
  BuildProgress,
  estimate,
  isModule,
  isPackage,
  lineReader,
  messageIn,
} from "../../scripts/lib/build-progress.mjs";
import { compilerMemory } from "../../scripts/lib/compiler-memory.mjs";
import { run, together } from "../../scripts/lib/run.mjs";

describe("the estimate", () => {
  it.each([
    [1, "about 7 to 15 minutes on 1 core"],
    [2, "about 4 to 8 minutes on 2 cores"],
    [4, "about 2 to 5 minutes on 4 cores"],
    [64, "about 1 to 2 minutes on 64 cores"],
  ])("on %i cores", (cores, text) => {
    expect(estimate(cores)).toBe(text);
  });
});

describe("Go's output", () => {
  it.each([
    ["fmt", true],
    ["internal/runtime/syscall", true],
    ["github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", true],
    ["gopkg.in/yaml.v3", true],
    ["go: downloading github.com/pulumi/pulumi/pkg/v3 v3.259.0", false],
    ["# github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", false],
    ["main.go:12:2: undefined: x", false],
    ["compile: signal: killed", false],
    ["", false],
  ])("%j", (line, expected) => {
    expect(isPackage(line)).toBe(expected);
  });

  it("names each module that it downloads", () => {
    expect(isModule("go: downloading cel.dev/expr v0.25.2")).toBe(true);
    expect(isModule("go: module lookup disabled by GOPROXY=off")).toBe(false);
  });

  it("may arrive in pieces that end anywhere", () => {
    const lines: string[] = [];
    const read = lineReader((line: string) => lines.push(line));
    for (const piece of ["internal/by", "tealg\r\nfmt", "\n", "os\nunfinis"]) read(piece);
    expect(lines).toEqual(["internal/bytealg", "fmt", "os"]);
  });

  it("has the error message, once progress lines are removed", () => {
    const output = "go: downloading a.b/c v1.0.0\nfmt\n# a.b/c\nc.go:1:2: undefined: x\nnet/http\n";
    expect(messageIn(output)).toBe("# a.b/c\nc.go:1:2: undefined: x");
  });
});

describe("progress", () => {
  const record = (isTerminal: boolean, columns?: number) => {
    const written: string[] = [];
    const write = (text: string) => written.push(text);
    return { written, progress: new BuildProgress({ write, isTerminal, ...(columns && { columns }) }) };
  };
  const compileAll = (progress: BuildProgress, total: number) => {
    for (let packages = 1; packages <= total; packages++) progress.compiled("pulumi", packages, total);
  };

  it("in a log is a line for each tenth of the packages, however many there are", () => {
    const { written, progress } = record(false);
    for (let modules = 1; modules <= 249; modules++) progress.downloaded("pulumi", modules);
    expect(written).toEqual([]);
    compileAll(progress, 1550);
    progress.done("pulumi", "v3.259.0 built in 180 s.");
    progress.end();
    expect(written).toHaveLength(10);
    expect(written[0]).toBe("  pulumi: 155 of 1,550 packages\n");
    expect(written.at(-2)).toBe("  pulumi: 1,395 of 1,550 packages\n");
    expect(written.at(-1)).toBe("  pulumi: v3.259.0 built in 180 s.\n");
  });

  it("in a log repeats no line if few packages are left to compile", () => {
    const { written, progress } = record(false);
    compileAll(progress, 3);
    expect(written).toEqual(["  pulumi: 1 of 3 packages\n", "  pulumi: 2 of 3 packages\n"]);
  });

  it("on a terminal rewrites one line, which covers both programs", () => {
    const { written, progress } = record(true);
    progress.show();
    progress.compiled("pulumi-language-nodejs", 12, 531);
    progress.downloaded("pulumi", 1234);
    expect(written.join("")).not.toContain("\n");
    expect(written.at(-1)).toBe(
      "\r\x1b[K  pulumi-language-nodejs: 12 of 531 packages; pulumi: 1,234 modules downloaded",
    );
    progress.done("pulumi-language-nodejs", "v3.68.0 built in 40 s.");
    expect(written.slice(-2)).toEqual([
      "\r\x1b[K  pulumi-language-nodejs: v3.68.0 built in 40 s.\n",
      "\r\x1b[K  pulumi: 1,234 modules downloaded",
    ]);
    progress.compiled("pulumi", 1549, 1549);
    expect(written.at(-1)).toBe("\r\x1b[K  pulumi: 1,549 of 1,549 packages, linking");
    progress.end();
    expect(written.at(-1)).toBe("\r\x1b[K");
  });

  it("never writes a line that a narrow terminal would wrap", () => {
    const { written, progress } = record(true, 20);
    progress.show();
    progress.compiled("pulumi-language-nodejs", 12, 531);
    expect(written.at(-1)).toBe("\r\x1b[K  pulumi-language-n");
  });

  it("on a terminal keeps its text back until it is shown", () => {
    const { written, progress } = record(true);
    progress.downloaded("pulumi", 3);
    progress.done("pulumi-language-nodejs", "v3.68.0 built in 40 s.");
    expect(written).toEqual([]);
    progress.show();
    expect(written).toEqual([
      "\r\x1b[K  pulumi-language-nodejs: v3.68.0 built in 40 s.\n",
      "\r\x1b[K  pulumi: 3 modules downloaded",
    ]);
  });
});

describe("the compilers' memory", () => {
  const GIB = 2 ** 30;
  it.each([
    [2, 8 * GIB, { GOGC: "off", GOMEMLIMIT: "1GiB" }],
    [2, 4 * GIB, {}],
    [16, 16 * GIB, {}],
  ])("of %i cores and %i bytes", (cores, memory, expected) => {
    expect(compilerMemory({ cores, memory })).toEqual(expected);
  });
});

describe("parts that run together", () => {
  const waitingProgram = (signal: AbortSignal, onOutput: () => void) =>
    run(process.execPath, ["-e", "console.log('started'); setInterval(() => {}, 1000)"], {
      capture: true,
      onOutput,
      signal,
    });

  it("end when one of them fails, and the first failure is the one that is thrown", async () => {
    const controller = new AbortController();
    let tellStarted = () => {};
    const hasStarted = new Promise<void>((resolve) => {
      tellStarted = resolve;
    });
    let end: unknown;
    const jobs = [
      () =>
        waitingProgram(controller.signal, tellStarted).catch((error: Error) => {
          end = error;
          throw error;
        }),
      () => hasStarted.then(() => Promise.reject(new Error("no space left on device"))),
    ];
    await expect(together(controller, jobs)).rejects.toThrow("no space left on device");
    expect(end).toMatchObject({ message: expect.stringMatching(/^Stopped/) });
  });

  it("are not started once another has failed", async () => {
    const controller = new AbortController();
    controller.abort();
    let output = false;
    const start = waitingProgram(controller.signal, () => {
      output = true;
    });
    await expect(start).rejects.toThrow(/^Stopped/);
    expect(output).toBe(false);
  });
});
