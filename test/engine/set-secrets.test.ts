/** Secret arguments of a set's events: never in clear in the state, in what is printed, or in a file beside it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

const needles = ["needle-name", "needle-field", "needle-default", "8675309"];

const shop = (a: string, defaults = `{ additionalFields: { shared: pulumi.secret("needle-default") } }`) =>
  program(`
new advertising.ConversionEventSet("funnel", {
  advertiserId: 1,
  defaults: ${defaults},
  events: { a: ${a}, plain: { eventName: "plain words", value: 2 } },
});`);
const secretEntry = `{ eventName: pulumi.secret("needle-name"), value: pulumi.secret(8675309), additionalFields: { note: pulumi.secret("needle-field") } }`;

it("a secret name and secret fields: created, refused with an echo, unresolved, and no longer secret", async () => {
  const sandbox = await useSandbox({ objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const stack = await newStack(shop(secretEntry), { sandbox });
  const expectHidden = async (output: string) => {
    const files = readdirSync(stack.folder, { recursive: true, encoding: "utf8" })
      .map((name) => join(stack.folder, name))
      .filter((path) => !path.startsWith(stack.programFolder) && statSync(path).isFile());
    expect(files.length).toBeGreaterThan(3);
    const texts = [output, await stack.exported(), ...files.map((path) => readFileSync(path, "utf8"))];
    for (const needle of needles) {
      for (const text of texts) expect(text.includes(needle), `${needle} in ${text.slice(0, 200)}`).toBe(false);
    }
  };
  const echo = {
    kind: "answer",
    status: 406,
    body: { errors: ["bad name needle-name, bad note needle-field, bad value 8675309.0"] },
  } as const;
  sandbox.fail({ on: "event", times: 2, with: echo });
  const refused = await stack.up();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain("[secret]");
  await expectHidden(refused.output);

  sandbox.fail({ on: "event", times: 2, act: true, with: { kind: "reset" } });
  const unresolved = await stack.up();
  expect(unresolved.output).toContain("The outcome of 2 events is unknown");
  expect(unresolved.output).toContain('the ConversionEvent named "plain words"');
  await expectHidden(unresolved.output);
  const ids = sandbox.events.map(({ event_name, id }) => [event_name === "needle-name" ? "a" : "plain", id]);
  const { a, plain } = Object.fromEntries(ids) as Record<string, number>;
  const named = (program: string) =>
    program.replace("a: {", `a: { existingId: ${a},`).replace("plain: {", `plain: { existingId: ${plain},`);
  stack.program(named(shop(secretEntry)));
  const settled = await stack.up();
  expect(settled.code, settled.output).toBe(0);
  await expectHidden(settled.output);

  // What was refused leaves the values of then in the state, which are still secret.
  stack.program(named(shop(secretEntry.replace("8675309", "2"))).replace(`existingId: ${a},`, ""));
  sandbox.fail({ on: "event", with: { kind: "answer", status: 406, body: { errors: ["no"] } } });
  const kept = await stack.up();
  expect(kept.code).not.toBe(0);
  await expectHidden(kept.output);

  // The entry of now is not secret, and could not be created: that of then stays out of the state.
  stack.program(shop(`{ eventName: "public", value: 1 }`).replace("plain: {", `plain: { existingId: ${plain},`));
  sandbox.fail({ on: "event", with: { kind: "answer", status: 406, body: { errors: ["no"] } } });
  const changed = await stack.up();
  expect(changed.code).not.toBe(0);
  await expectHidden(changed.output);
  const last = await stack.up();
  expect(last.code, last.output).toBe(0);
  await expectHidden(last.output);
  expect(sandbox.eventPosts).toBe(7);
});
