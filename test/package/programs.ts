/** What must hold for the package as each package manager installs it. */
import { copyFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { InstalledProject, type Manager, manifestIn, packAsVersion } from "../support/packed.js";
import { newStack, type TestStack, UNCHECKED, useSandbox } from "../support/stack.js";

const BODY = `
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
const events = ["Landing", "Basket", "Purchase"].map((eventName, index) =>
  new advertising.ConversionEvent(eventName, {
    eventName, advertiserId: acme.advertiserId, value: index, eventTypeId: advertising.EventType.LandingPage,
    clickWindow: advertising.days(7), attribution: advertising.Attribution.Whitelist,
  }));`;
const EXPORTS = `
export const advertiserId = acme.advertiserId;
export const eventIds = events.map((event) => event.eventId);
`;
/** One advertiser and three events, by the name of the file. */
const PROGRAMS = {
  "index.ts": `import * as advertising from "pulumi-advertising";${BODY}${EXPORTS}`,
  "index.js": `const advertising = require("pulumi-advertising");${BODY}${EXPORTS.replaceAll("export const ", "exports.")}`,
  "index.mjs": `import * as advertising from "pulumi-advertising";${BODY}${EXPORTS}`,
} as const;
type ProgramFile = keyof typeof PROGRAMS;

/** A project with the package, and the tarball that it was installed from. */
export interface Installed {
  readonly project: InstalledProject;
  readonly tarball: string;
}

/** @param other installs the next version; none where another manager's test does that. */
export function describePrograms(
  manager: Manager,
  installed: () => Installed,
  temporary: () => string,
  other?: Manager,
): void {
  // How a program is loaded is the same in each layout: pnpm's is tried with one, and below with TypeScript.
  it.each(manager === "npm" ? (Object.keys(PROGRAMS) as ProgramFile[]) : (["index.mjs"] as const))(
    "%s: one login, each object once, its id in the outputs",
    async (file) => {
      const sandbox = await useSandbox();
      const { project } = installed();
      const stack = await stackIn(project, file, sandbox);
      const { code, output } = await stack.up();
      expect(output).toContain("5 created");
      expect(output).not.toMatch(/warning|error/i);
      expect(code).toBe(0);
      expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 3 });
      expect(sandbox.requests).toHaveLength(5);
      const names = ["Landing", "Basket", "Purchase"];
      expect(await stack.outputs()).toEqual({
        advertiserId: sandbox.advertisers[0]?.id,
        eventIds: names.map((name) => sandbox.events.find((event) => event.event_name === name)?.id),
      });
    },
  );

  if (other === undefined) return;
  it(`its state is the next version's, installed by ${other} in another folder`, async () => {
    const { project, tarball } = installed();
    const sandbox = await useSandbox();
    const stack = await stackIn(project, "index.ts", sandbox);
    expect((await stack.up()).code).toBe(0);
    stack.setEnvironment(UNCHECKED); // from here on, as its types were checked
    const resources = await ourResources(stack);
    expect(resources).toHaveLength(4);
    for (const place of [temporary(), "node_modules", manifestIn(project.packageFolder).version]) {
      expect(JSON.stringify(resources)).not.toContain(place);
    }
    sandbox.resetCounts();

    const version = `${Number.parseInt(manifestIn(project.packageFolder).version, 10) + 1}.0.0`;
    const next = await packAsVersion(version, tarball, temporary());
    const elsewhere = await InstalledProject.create(other, next, temporary());
    expect(manifestIn(elsewhere.packageFolder).version).toBe(version);
    await move(stack, elsewhere, "index.ts");
    const hidden = `${project.folder}-hidden`;
    renameSync(project.folder, hidden);
    onTestFinished(() => renameSync(hidden, project.folder));

    const expectNothing = async (...args: string[]) => {
      const { code, output } = await stack.run(args);
      expect(output).toContain("5 unchanged");
      expect(code).toBe(0);
      expect(await ourResources(stack)).toEqual(resources);
    };
    await expectNothing("preview", "--expect-no-changes");
    await expectNothing("refresh", "--yes", "--skip-preview", "--expect-no-changes");
    await expectNothing("up", "--yes", "--skip-preview", "--expect-no-changes");

    const { code, output } = await stack.destroy();
    expect(output).toContain("5 deleted");
    expect(code).toBe(0);
    expect(await ourResources(stack)).toEqual([]);
    expect(sandbox.requests).toEqual([]);
    expect([...sandbox.advertisers, ...sandbox.events]).toHaveLength(4);
  });
}

/** What the engine compares: without the places in source code that Pulumi notes of any resource. */
async function ourResources(stack: TestStack): Promise<object[]> {
  return (await stack.resources()).map(({ urn, id, inputs, outputs, retainOnDelete }) => ({
    urn,
    id,
    inputs,
    outputs,
    retainOnDelete,
  }));
}

async function stackIn(
  project: InstalledProject,
  file: ProgramFile,
  sandbox: Awaited<ReturnType<typeof useSandbox>>,
): Promise<TestStack> {
  // What an earlier test left: programs, and the stack's settings.
  for (const name of readdirSync(project.folder)) {
    if (/^(index\.|Pulumi\.|tsconfig)/.test(name)) rmSync(join(project.folder, name));
  }
  return newStack(PROGRAMS[file], { file, sandbox, programFolder: project.folder, project: "shop" });
}

/** As a clone of the user's repository would be: the files that one commits, nothing else. */
async function move(stack: TestStack, project: InstalledProject, file: ProgramFile): Promise<void> {
  for (const name of ["Pulumi.yaml", "Pulumi.dev.yaml", "tsconfig.json", file]) {
    copyFileSync(join(stack.programFolder, name), join(project.folder, name));
  }
  stack.programFolder = project.folder;
  const { code, output } = await stack.run(["stack", "select", "dev"]);
  if (code !== 0) throw new Error(`no stack: ${output}`);
}
