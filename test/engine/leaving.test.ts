/** Ids that leave the state are named, on a machine that has never seen them, by the preview and the `up`. */
import { expect, it } from "vitest";
import { throughPlugin } from "../support/plugin.js";
import { newStack, program, useSandbox, well } from "../support/stack.js";

/** @param plugin the body for the plugin's resources, whose classes are `advertising`'s. */
const shop = (events: string) =>
  throughPlugin(
    program(`const classes = require("pulumi-advertising");
const { advertiserId } = new classes.Advertiser("a", { advertiserName: "A" });
const args = (eventName) => ({ eventName, advertiserId, value: 1 });
${events}`),
  );

it("in both faces, under --target, and not after a rename with an alias", async () => {
  const sandbox = await useSandbox();
  const first = await newStack(
    shop(`
new classes.ConversionEvent("kept", args("Kept"));
new classes.ConversionEvent("gone", args("Gone"));
new advertising.ConversionEvent("through", args("Through"));`),
    { sandbox },
  );
  await well(first.up());
  const { kept, gone, through } = await first.ids();
  const stack = await first.onAnotherMachine();
  stack.program(
    shop(
      `new classes.ConversionEvent("renamed", args("Kept"), { aliases: [{ name: "kept" }] });`,
    ),
  );
  const isNamed = (name: string, id: unknown) =>
    expect.stringMatching(
      new RegExp(
        `\`${name}\` is no longer in the program(?:, unless an error ended it early(?: or another provider has it)?)?\\. Its event ${id} .*stays live`,
      ),
    );
  const preview = await well(stack.preview());
  expect(preview).toEqual(isNamed("gone", gone));
  expect(preview).toEqual(isNamed("through", through));
  const type = "pulumi-nodejs:dynamic/advertising:ConversionEvent";
  const targets = ["gone", "renamed"].flatMap((name) => [
    "--target",
    `urn:pulumi:dev::tiny::${type}::${name}`,
  ]);
  const targeted = await well(stack.up(...targets));
  expect(targeted).toEqual(isNamed("gone", gone));
  expect(targeted).not.toContain("`through`");
  const up = await well(stack.up());
  for (const output of [preview, targeted, up]) expect(output).not.toContain("`kept`");
  expect(up).toMatch(new RegExp(`${through}.*stays live`));
  expect(await stack.ids()).toEqual({ a: "1", renamed: kept });
  expect(sandbox).toMatchObject({ creates: 4, deletes: 0 });
});
