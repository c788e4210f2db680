/** How an installation answers, in real runs; each shape of answer by itself is the matter of the client's tests. */
import { expect, it } from "vitest";
import { eventsProgram, newStack, program, useSandbox } from "../support/stack.js";

it("a session that ends every ten requests, in the middle of 25 creates: all objects exactly once", async () => {
  const sandbox = await useSandbox({ sessionRequests: 10, sessionRefusal: "login-page" });
  const stack = await newStack(eventsProgram(24), { sandbox });
  const { code, output } = await stack.up("--parallel", "16");
  expect(output).toContain("26 created");
  expect(code).toBe(0);
  expect(sandbox.advertisers).toHaveLength(1);
  expect(sandbox.events.map((event) => event.event_name).sort()).toEqual(
    Array.from({ length: 24 }, (_, i) => `E${i}`).sort(),
  );
  expect(sandbox.requests.filter(({ accepted, path }) => accepted && !path.endsWith("authenticate"))).toHaveLength(25);
  expect(sandbox.logins).toBeLessThanOrEqual(4);
});

it("a refusal shows the platform's words, causes no second login and leaves nothing in the state", async () => {
  const sandbox = await useSandbox({ refusalShape: "success-false-200", advertisersStartActive: false });
  const stack = await newStack(eventsProgram(1), { sandbox });
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("advertiser 1 is not active");
  expect(output).toMatch(
    /ConversionEvent "e0": POST http:\/\/127\.0\.0\.1:\d+\/rest\/event was refused with status \d{3}/,
  );
  expect(output).toContain("Activate that advertiser on the platform");
  expect(output).not.toContain("active: true");
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 1 });
  expect((await stack.resources()).map(({ id }) => id)).toEqual(["1"]);
});

it("an advertiser made active by an additional field takes events; a warning is shown once; an id beyond 2^53 comes to the last digit", async () => {
  const sandbox = await useSandbox({ advertisersStartActive: false });
  const stack = await newStack(
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "A", additionalFields: { active: true } });
for (const n of [1, 2]) new advertising.ConversionEvent("e" + n, { eventName: "E" + n, advertiserId: a.advertiserId, value: 1, additionalFields: { colour: "red" } });
new advertising.Advertiser("z", { advertiserName: "Z" }, { dependsOn: a });`),
    { sandbox },
  );
  const body = '{"success":true,"payload":{"id":9007199254740993}}';
  sandbox.fail({ on: "advertiser", after: 1, act: true, with: { kind: "answer", status: 200, body } });
  const { code, output } = await stack.up();
  expect(code).toBe(0);
  expect(output.slice(output.indexOf("Diagnostics:"))).toMatch(
    /\(first seen for ConversionEvent "e\d"\): WARNING: unknown field colour was dropped/,
  );
  expect(output.slice(output.indexOf("Diagnostics:")).match(/colour was dropped/g)).toHaveLength(1);
  expect((await stack.resources()).map(({ id }) => id)).toContain("9007199254740993");
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 2 });
});

it("wrong credentials are tried once, however many resources ask", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`for (let i = 0; i < 20; i++) new advertising.Advertiser("a" + i, { advertiserName: "A" + i });`),
    {
      sandbox,
      environment: { ADVERTISING_PASSWORD: "needle-wrong" },
    },
  );
  const { code, output } = await stack.up("--parallel", "20");
  expect(code).not.toBe(0);
  // Among what is said of twenty resources, the reason stands once.
  expect(output.slice(output.indexOf("Diagnostics:")).match(/the e-mail or the password is wrong/g)).toHaveLength(1);
  expect(output).toContain("Check ADVERTISING_EMAIL and ADVERTISING_PASSWORD");
  expect(output).not.toContain("needle");
  expect(sandbox).toMatchObject({ logins: 1, creates: 0 });
  expect(await stack.resources()).toEqual([]);
});

it("one resource's failure loses nothing of the others", async () => {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "event", after: 3, with: { kind: "answer", status: 406, body: { errors: ["no"] } } });
  const stack = await newStack(eventsProgram(8), { sandbox });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
  expect(await stack.resources()).toHaveLength(8);
  expect(sandbox.events).toHaveLength(7);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.events).toHaveLength(8);
  expect(sandbox.creates).toBe(10);
});
