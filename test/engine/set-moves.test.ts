/** Events that move between single resources and sets: nothing is sent with existingId, and a warning comes before it without. */
import { expect, it } from "vitest";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

/** Events of one shop, by their place: `purchase` and `lead` as single resources or in sets. */
const shop = (places: { single?: Record<string, string>; a?: Record<string, string>; b?: Record<string, string> }) => {
  const entries = (given: Record<string, string> = {}) =>
    Object.entries(given).map(
      ([key, more]) => [key, `{ eventName: "${key.split("-")[0]}", value: 5, ${more} }`] as const,
    );
  const set = (name: string, given: Record<string, string> | undefined) =>
    given === undefined
      ? ""
      : `new advertising.ConversionEventSet("${name}", { advertiserId: 1, events: { ${entries(given)
          .map(([key, entry]) => `"${key}": ${entry}`)
          .join(", ")} } });`;
  return program(
    [
      ...entries(places.single).map(
        ([key, entry]) => `new advertising.ConversionEvent("${key}", { ...${entry}, advertiserId: 1 });`,
      ),
      set("a", places.a),
      set("b", places.b),
    ].join("\n"),
  );
};

it("single to set, key to key, set to set, set to single", async () => {
  const sandbox = await useSandbox({ firstId: 11, objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const stack: TestStack = await newStack(shop({ single: { purchase: "", lead: "" }, b: {} }), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const id = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const [purchase, lead] = [id("purchase"), id("lead")];
  expect(sandbox.eventPosts).toBe(2);

  const warned = async (text: string, words: string | RegExp) => {
    stack.program(text);
    const { code, output } = await stack.preview();
    expect(code, output).toBe(0);
    expect(output).toMatch(/warning/);
    expect(output.replaceAll(/\s+/g, " ")).toMatch(words);
  };
  const moved = async (text: string) => {
    stack.program(text);
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
    expect(output).not.toContain("second");
    expect(sandbox.eventPosts, output).toBe(2);
    return output;
  };
  const [isPurchase, isLead] = [`existingId: ${purchase}`, `existingId: ${lead}`];

  await warned(
    shop({ a: { purchase: "", lead: isLead }, b: {} }),
    new RegExp(
      `\`purchase\` \\(${purchase}\\) is no longer declared and \`a\\["purchase"\\]\` has the same arguments.*set existingId: ${purchase}`,
    ),
  );
  await moved(shop({ a: { purchase: isPurchase, lead: isLead }, b: {} }));

  await warned(
    shop({ a: { "purchase-web": "", lead: "" }, b: {} }),
    new RegExp(
      `1 new key has the arguments of a key that is no longer declared.*purchase-web has the arguments of purchase: existingId: ${purchase}`,
    ),
  );
  await moved(shop({ a: { "purchase-web": isPurchase, lead: "" }, b: {} }));

  await warned(
    shop({ a: { lead: "" }, b: { purchase: "" } }),
    new RegExp(
      `\`a\\["purchase-web"\\]\` \\(${purchase}\\) is no longer declared and \`b\\["purchase"\\]\` has the same arguments.*set existingId: ${purchase}`,
    ),
  );
  await moved(shop({ a: { lead: "" }, b: { purchase: isPurchase } }));

  await warned(
    shop({ single: { purchase: "" }, a: { lead: "" }, b: {} }),
    new RegExp(
      `\`b\\["purchase"\\]\` \\(${purchase}\\) is no longer declared and \`purchase\` has the same arguments.*set existingId: ${purchase}`,
    ),
  );
  await moved(shop({ single: { purchase: isPurchase }, a: { lead: "" }, b: {} }));

  // Once moved, existingId may go.
  expect(await moved(shop({ single: { purchase: "" }, a: { lead: "" }, b: {} }))).toContain("4 unchanged");

  // An id that comes late: before it is known, no message says to deactivate the object; both are true whatever the engine calls first.
  const late = `existingId: pulumi.secret(new Promise((later) => setTimeout(() => later(${lead}), 1500)))`;
  stack.program(shop({ single: { purchase: "", lead: late }, a: {}, b: {} }));
  const { output: previewed } = await stack.preview();
  const upped = await moved(shop({ single: { purchase: "", lead: late }, a: {}, b: {} }));
  expect(previewed).toContain(`to remove from the state: lead (${lead}`);
  for (const output of [previewed, upped]) expect(output).not.toMatch(/by hand\.|No longer managed/);
  expect((await stack.up()).output).toContain("5 unchanged");
});
