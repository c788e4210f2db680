/** Ids that leave the state are named, on a machine that has never seen them, by the preview and the `up`. */
import { expect, it } from "vitest";
import { throughPlugin } from "../support/plugin.js";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

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
        `\`${name}\` is no longer in the program(?:, unless an error ended it early, [^.]*)?\\. (?:If none of these, i|I)ts event ${id} .*stays live`,
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

it("the old object of an interrupted replacement, in preview, comment and `up`", async () => {
  const sandbox = await useSandbox({
    operations: true,
    objects: { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] },
  });
  const known = { event: { delete: "DELETE rest/event/{id}" } };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(known) };
  const events = (value: number, more = "") =>
    program(`
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: 1, value: ${value}${more} });
new advertising.ConversionEvent("other", { eventName: "O", advertiserId: 1, value: 1 });`);
  const DELETING = ', deletionPolicy: "delete"';
  const stack = await newStack(events(1, DELETING), { sandbox, environment });
  await well(stack.up());
  const named = (id: unknown) =>
    new RegExp(
      `\`e\` was replaced by an earlier run, and leaves the state\\. Its event ${id} .*stays live`,
    );

  // Its delete fails, and then nobody asks for it any more.
  const { e: first } = await stack.ids();
  sandbox.fail({ on: "delete", times: 9, with: { kind: "answer", status: 500, body: "" } });
  stack.program(events(2, DELETING));
  await failed(stack.up());
  sandbox.endFaults();
  const { deletes } = sandbox;
  stack.program(events(2));
  const preview = (await stack.preview("--json", "--show-sames")).output;
  expect(preview).toMatch(named(first));
  const comment = await stack.commentOn(preview);
  expect(comment).toContain("1 to leave the state, replaced by an earlier run");
  expect(comment).toContain("Up to 1 object would stay live");
  expect(await well(stack.up())).toMatch(new RegExp(`${first}.*stays live`));
  expect(sandbox).toMatchObject({ deletes, eventPosts: 3 });

  // The response to its successor's create is lost.
  const { e: second } = await stack.ids();
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  stack.program(events(3));
  await failed(stack.up());
  const made = sandbox.events.at(-1)?.id;
  await well(stack.command("pending", "--created", `e=${made}`));
  for (const each of (await well(stack.previewAndUp())).split("Updating ("))
    expect(each).toMatch(named(second));
  expect(await stack.ids()).toMatchObject({ e: String(made) });
  expect(sandbox).toMatchObject({ deletes, eventPosts: 4 });
});

it("what the program only reads from now on, which isn't deleted", async () => {
  const sandbox = await useSandbox({ operations: true });
  const known = { event: { delete: "DELETE rest/event/{id}" } };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(known) };
  const event = (body: string) =>
    program(`
const { advertiserId } = new advertising.Advertiser("a", { advertiserName: "A" });
${body}`);
  const stack = await newStack(
    event(
      `new advertising.ConversionEvent("e", { eventName: "E", advertiserId, value: 1, deletionPolicy: "delete" });`,
    ),
    { sandbox, environment },
  );
  await well(stack.up());
  const { e } = await stack.ids();
  stack.write("before.json", await stack.exported());
  stack.program(event(`advertising.ConversionEvent.get("e", "${e}");`));
  const halves = (await well(stack.previewAndUp())).split("Updating (");
  expect(halves).toHaveLength(2);
  // Pulumi saves it as only read before its record has been read.
  for (const half of halves) {
    expect(half).toContain(
      `\`e\` is only read from now on. Its event ${e} ("E") stays live`,
    );
    expect(half).toContain(`${e} isn't deleted, because the program still reads it`);
  }
  const left = await well(stack.command("leftovers", "--before", "before.json"));
  expect(left).toMatch(/ConversionEvent .* may be live$/m);
  expect(sandbox).toMatchObject({ deletes: 0 });
});

it("a setting that has changed, with --refresh: what the program declares through the plugin isn't said to leave", async () => {
  const sandbox = await useSandbox();
  const body = throughPlugin(
    program(`new advertising.Advertiser("a", { advertiserName: "A" });`),
  );
  const stack = await newStack(body, { sandbox });
  await well(stack.up());
  stack.write("Pulumi.dev.yaml", `config:\n  advertising:maxWaitSeconds: "100"\n`);
  const preview = await well(stack.preview("--refresh"));
  expect(preview).toContain("Settings have changed since the last `pulumi up`.");
  expect(preview).not.toContain("no longer in the program,");
});
