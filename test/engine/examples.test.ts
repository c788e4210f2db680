/**
 * The repository's examples, as their files are: each applied for real, as a whole Pulumi project with its own stack.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { basename, join, resolve } from "node:path";
import { expect, inject, it, onTestFinished } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import {
  inheritedEnvironment,
  newStack,
  runProcess,
  type TestStack,
  UNCHECKED,
  useSandbox,
} from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");

interface Example {
  /** Its name in its Pulumi.yaml. */
  readonly project: string;
  /** What belongs to it: paths in the repository, and in the project. */
  readonly files: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  readonly config?: Record<string, string>;
}

async function exampleStack({ project, files, ...options }: Example): Promise<TestStack> {
  const stack = await newStack("", {
    project,
    file: "index.ts",
    environment: UNCHECKED,
    ...options,
  });
  for (const [from, to] of Object.entries(files)) {
    cpSync(join(repository, from), join(stack.programFolder, to), {
      recursive: true,
      filter: (path) => !/^(Pulumi\..+\.yaml|node_modules)$/.test(basename(path)), // what developers' own runs leave there
    });
  }
  return stack;
}

const idsOf = (objects: readonly { readonly id: number }[]) =>
  objects.map(({ id }) => id).sort();

it("examples/adopt: POSTs only for what does not exist, with the additional field", async () => {
  const sandbox = await useSandbox({
    advertisersStartActive: false,
    objects: {
      advertisers: [{ id: 41, advertiser_name: "Acme Classics", active: true }],
      events: [{ id: 42, event_name: "Landing page", advertiser_id: 41, value: 0 }],
    },
  });
  const config = { "adopt:existingAdvertiser": "41", "adopt:existingEvent": "42" };
  const stack = await exampleStack({
    project: "adopt",
    files: { "examples/adopt": "" },
    sandbox,
    config,
  });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 2 });
  expect(
    sandbox.requests
      .filter(({ path }) => path.endsWith("/advertiser"))
      .map(({ body }) => body),
  ).toEqual([{ advertiser_name: "Acme Outlet", active: true }]);
  expect(idsOf(sandbox.advertisers)).toEqual([41, 43]);
  const created = (advertiser: number) =>
    sandbox.events.find(({ id, advertiser_id }) => id > 43 && advertiser_id === advertiser)
      ?.id;
  expect(await stack.outputs()).toEqual({
    eventIds: [created(41), created(43)],
    adoptedEventId: 42,
  });
});

it("npm start, after its set-up: the ids and what lives on the platform; a port that is taken is told", async () => {
  // In the repository like the usual folder, but not a developer's own.
  const parent = join(repository, ".pulumi-local", "test");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "start-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const environment = {
    ...inheritedEnvironment(),
    ...UNCHECKED,
    LOCAL_FOLDER: folder,
    NO_COLOR: "1",
  };
  const start = () =>
    runProcess(
      process.execPath,
      [join("scripts", "lib", "shop.mjs"), inject("counting")],
      repository,
      environment,
    );

  const first = await start();
  expect(first.code, first.output).toBe(0);
  expect(first.output).toContain("7 created");
  expect(first.output).toMatch(/advertiserIds: \{\s+hats\s*: [12]\s+shoes: [12]\s+\}/);
  const idOf = (name: string) =>
    new RegExp(`event (\\d+) {2}${name},`).exec(first.output)?.[1];
  const [purchase, landing] = [idOf("Shoes: purchase"), idOf("Shoes: landing page")];
  expect(first.output).toMatch(
    new RegExp(`landing *: ${landing}\\s+purchase *: ${purchase}\\s+signUps *: \\[`),
  );
  expect(first.output).toContain("Created on the sandbox: 6. It now has:");
  expect(living(first.output)).toHaveLength(6);
  expect(first.output).toMatch(/^ {4}event \d {2}Shoes: purchase, value 25$/m);

  const port = Number(/listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(first.output)?.[1]);
  const other = createServer().listen(port, "127.0.0.1");
  onTestFinished(() => void other.close());
  // An error says that somebody else has it by now.
  await new Promise((taken) => other.once("listening", taken).once("error", taken));
  const taken = await start();
  expect(taken.code, taken.output).not.toBe(0);
  expect(taken.output).toContain(`Another program uses port ${port}`);
});

/** The lines about objects on the platform. */
const living = (output: string) =>
  output.split("\n").filter((line) => /^ +(advertiser|event) \d+ {2}/.test(line));

it("examples/catalog: each object of the files once, with the defaults that apply to it", async () => {
  const sandbox = await useSandbox();
  const stack = await exampleStack({
    project: "catalog",
    files: { "examples/catalog": "" },
    sandbox,
  });
  const { code, output } = await stack.up();
  expect(output).not.toMatch(/warning|error/i);
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 3, eventPosts: 7 });
  const [day, views] = [86_400, 2_592_000];
  const sent = sandbox.events.map(({ event_name, value, click_window, view_window }) => [
    ...[event_name, value, click_window, view_window],
  ]);
  expect(sent.toSorted((a, b) => Number(a[1]) - Number(b[1]))).toEqual([
    ["Landing page", 0, day / 2, views],
    ["Newsletter", 1.5, 14 * day, day],
    ["Basket", 3, views, day],
    ["Loyalty card", 4, 7 * day, day],
    ["Purchase", 9.5, views, 7 * day],
    ["Purchase", 12.5, 14 * day, day],
    ["Purchase", 25, 14 * day, views],
  ]);
  const idOf = (value: number) => sandbox.events.find((event) => event.value === value)?.id;
  expect((await stack.outputs()).eventIds).toEqual({
    shop: {
      "shoes/purchase": idOf(25),
      landing: idOf(0),
      "hats/purchase": idOf(12.5),
      newsletter: idOf(1.5),
      loyalty: idOf(4),
    },
    outlet: { basket: idOf(3), purchase: idOf(9.5) },
  });
});
