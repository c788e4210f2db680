/** The provider's lifecycle with a real client, as the engine calls it. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { advertiserDeclaration } from "../../provider/src/lifecycle/declaration.js";
import { createProvider } from "../../provider/src/lifecycle/provider.js";
import { createRuntime, type Runtime } from "../../provider/src/lifecycle/runtime.js";
import { startSandbox } from "../../provider/src/sandbox/index.js";

const inputs = {
  advertiserName: "A",
  __identity: "organization/tiny/dev::a",
  __provider: 'exports.handler=()=>require("pulumi-advertising/handlers").advertiser',
};

async function providerWith(
  adapt: (runtime: Runtime) => Runtime = (runtime) => runtime,
  cookieFileIn = (folder: string) => join(folder, "session.json"),
) {
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.close());
  const folder = mkdtempSync(join(tmpdir(), "lifecycle-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config: Record<string, string> = {
    baseUrl: sandbox.url,
    email: sandbox.email,
    password: sandbox.password,
    cookieFile: cookieFileIn(folder),
  };
  const runtime = adapt(createRuntime((key) => config[key], {}));
  onTestFinished(() => runtime.closeNow());
  const provider = createProvider(
    advertiserDeclaration,
    () => runtime,
    () => undefined,
  );
  const journals = () =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  return { sandbox, provider, runtime, journals };
}

/** What the engine is told of a create that fails. */
function failureOf(creating: Promise<unknown>) {
  return creating.then(
    () => expect.fail("it did not fail"),
    (error: Error & { id?: string; properties?: unknown }) => error,
  );
}

it("a create in doubt that the engine asks for again, as its error hooks do, is not sent again", async () => {
  const { sandbox, provider, runtime, journals } = await providerWith();
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "close-without-answer" } });
  const first = await failureOf(provider.create(inputs));
  for (let i = 0; i < 3; i++) {
    const again = await failureOf(provider.create(inputs));
    expect(again.id).toMatch(/^unresolved-/);
    expect(again.id).toBe(first.id);
    expect(again.properties).toHaveProperty("unresolved");
  }
  expect(sandbox.advertiserPosts).toBe(1);
  runtime.closeNow();
  expect(journals()).toEqual([]);
});

it("a defect of ours after the sending leaves it unresolved: nobody knows what became of it", async () => {
  const { sandbox, provider, journals } = await providerWith((runtime) => {
    const client = runtime.client();
    const create: typeof client.create = async (request) => {
      await client.create(request);
      throw new TypeError("not foreseen");
    };
    return { ...runtime, client: () => Object.assign(Object.create(client), { create }) };
  });
  const failure = await failureOf(provider.create(inputs));
  expect(failure.id).toMatch(/^unresolved-/);
  expect(failure.message).toContain("not foreseen");
  expect(failure.message).toContain("existingId");
  expect(sandbox.advertiserPosts).toBe(1);
  expect(journals()).toHaveLength(1);
});

it("a defect of ours before the sending leaves nothing", async () => {
  const { sandbox, provider } = await providerWith((runtime) => ({
    ...runtime,
    client: () => {
      throw new TypeError("not foreseen");
    },
  }));
  const failure = await failureOf(provider.create(inputs));
  expect(failure.id).toBeUndefined();
  expect(failure.message).toContain("A defect in pulumi-advertising");
  expect(sandbox.advertiserPosts).toBe(0);
});

it("a journal that can't be kept: nothing is sent, and the way out is told", async () => {
  const { sandbox, provider } = await providerWith(undefined, (folder) => {
    writeFileSync(join(folder, "file"), "");
    return join(folder, "file", "session.json");
  });
  const failure = await failureOf(provider.create(inputs));
  expect(failure.id).toBeUndefined();
  expect(failure.message).toMatch(/^Nothing was sent\. The journal .*jsonl.*can't be used: .*advertising:cookieFile/);
  expect(sandbox.advertiserPosts).toBe(0);
});
