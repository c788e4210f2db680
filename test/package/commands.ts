/** What must hold for the package's commands, as an installed package brings them. */
import { expect, it } from "vitest";
import { type InstalledProject, type Manager, manifestIn, providerFolder } from "../support/packed.js";
import { newStack, program } from "../support/stack.js";

const COMMANDS = Object.keys(manifestIn(providerFolder).bin);

/** What a manager's layout can't change is held once, with npm. */
export function describeCommands(manager: Manager, projectOf: () => InstalledProject): void {
  it.each(COMMANDS)("%s --help says what it takes", async (command) => {
    const { code, output } = await projectOf().exec(command, "--help");
    expect(output).toMatch(new RegExp(`^Usage: ${command}`, "m"));
    expect(code).toBe(0);
  });

  it("pulumi-advertising --version is the installed package's", async () => {
    const { code, output } = await projectOf().run(projectOf().command("pulumi-advertising"), "--version");
    expect(output).toBe(`${manifestIn(projectOf().packageFolder).version}\n`);
    expect(code).toBe(0);
  });

  it("pulumi-advertising validate reads YAML and CSV; the schema for editors is there", async () => {
    projectOf().write("catalog.yaml", "advertisers: { acme: { advertiserName: Acme } }\neventsFile: events.csv\n");
    projectOf().write("events.csv", "key;advertiser;event name;value\r\nbuy;acme;Buy;1\r\n");
    const { code, output } = await projectOf().exec("pulumi-advertising", "validate", "catalog.yaml");
    expect(output).toContain("catalog.yaml: 1 advertiser, 1 conversion event; 0 errors, 0 warnings\n");
    expect(code).toBe(0);
    const schema = await projectOf().node(
      "schema.js",
      `console.log(require("pulumi-advertising/catalog.schema.json").title)`,
    );
    expect(schema.output).toBe("Advertisers and conversion events\n");
  });

  it("advertising-sandbox serves a real run, and ends at SIGTERM with what it counted", async () => {
    const args = ["--email", "me@example.com", "--password", "a word of its own"];
    const { pid, match, ended } = await projectOf().start(
      "advertising-sandbox",
      args,
      /listens on (http:\/\/127\.0\.0\.1:\d+)/,
    );
    const stack = await newStack(program(`exports.id = new advertising.Advertiser("a", { advertiserName: "A" }).id;`), {
      programFolder: projectOf().folder,
      config: { "advertising:baseUrl": match[1] as string, "advertising:email": "me@example.com" },
      environment: { ADVERTISING_PASSWORD: "a word of its own" },
    });
    const { code, output } = await stack.up();
    expect(output).toContain("2 created");
    expect(code).toBe(0);
    expect(await stack.outputs()).toEqual({ id: "1" });
    process.kill(pid, "SIGTERM");
    const end = await ended;
    expect(end.output).toContain("1 login, 1 advertiser, 0 events.");
    expect(end.output).not.toContain("a word of its own");
    expect(end.code).toBe(0);
  });

  if (manager !== "npm") return;

  it.each([
    [["--port", "abc"], /--port .*"abc"/],
    [["--port", "65536"], /--port .*"65536"/],
    [["--latency-ms", "-1"], /latency-ms/],
    [["--prot", "1"], /--prot/],
    [["stray"], /stray/],
  ])("advertising-sandbox %j is refused in a sentence", async (args, named) => {
    const { code, output } = await projectOf().run(projectOf().command("advertising-sandbox"), ...args);
    expect(output).toMatch(named);
    expect(output).toContain("advertising-sandbox --help");
    expect(output).not.toMatch(/^\s+at /m);
    expect(code).toBe(2);
  });

  it("npx --port abc keeps the exit code", async () => {
    const { code, output } = await projectOf().exec("advertising-sandbox", "--port", "abc");
    expect(output).toContain('"abc"');
    expect(code).toBe(2);
  });
}
