/**
 * Random sequences of creates, answers, faults, ended and rotating sessions. Whatever happens, the client's reports
 * agree with the platform. RUNS sets how many (`npm run model-test` runs the long version), SEED repeats a run.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Fault, FaultRule, Sandbox } from "../../provider/src/sandbox/index.js";
import { type Ending, TestClient } from "../support/client.js";
import {
  type CreatedForm,
  type InstallationOptions,
  type RefusalForm,
  SESSION_REFUSALS,
  sessionRefusal,
  startInstallation,
} from "../support/installation.js";
import { lostAnswers } from "../support/lost-answers.js";
import { closeAfter, earlyHints, manyHeaders } from "../support/wire-faults.js";

const RUNS = Number(process.env.RUNS ?? 200);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Faults whose answer says that nothing was done, which is true. */
const refusals: Fault[] = [
  { kind: "answer", status: 400, body: { errors: { event: { event_name: ["bad"] } } } },
  { kind: "answer", status: 403, body: { message: "you may not create these" } },
  { kind: "answer", status: 406, body: { errors: ["bad"] } },
  { kind: "answer", status: 200, body: { success: false, message: "bad" } },
  { kind: "answer", status: 429, headers: { "retry-after": "3" } },
  { kind: "answer", status: 429 },
  { kind: "answer", status: 429, headers: { "retry-after": "25" } }, // longer than may be waited
  { kind: "answer", status: 503, headers: { "retry-after": "1" } },
  ...SESSION_REFUSALS.map(sessionRefusal),
];
/** Faults with which a create still succeeds. */
const harmless = [closeAfter, earlyHints, manyHeaders(60)];

const target = fc.constantFrom<FaultRule["on"]>("advertiser", "create");
const after = fc.nat(4);
const times = fc.integer({ min: 1, max: 3 });
const fault: fc.Arbitrary<FaultRule> = fc.oneof(
  fc.record({
    on: target,
    with: fc.constantFrom(...lostAnswers),
    act: fc.boolean(),
    after,
    times,
  }),
  fc.record({
    on: target,
    with: fc.constantFrom(...refusals),
    act: fc.constant(false),
    after,
    times,
  }),
  fc.record({
    on: target,
    with: fc.constantFrom(...harmless),
    act: fc.constant(true),
    after,
    times,
  }),
  fc.record({
    on: fc.constant<FaultRule["on"]>("authenticate"),
    with: fc.constantFrom<Fault>(
      { kind: "answer", status: 503 },
      { kind: "reset" },
      { kind: "answer", status: 429, headers: { "retry-after": "2" } },
    ),
    act: fc.constant(false),
    after: fc.nat(1),
    times: fc.integer({ min: 1, max: 4 }),
  }),
);

const platform: fc.Arbitrary<InstallationOptions> = fc.record({
  sessionRequests: fc.oneof(
    fc.constant(Number.POSITIVE_INFINITY),
    fc.integer({ min: 1, max: 8 }),
  ),
  sessionRefusal: fc.constantFrom(...SESSION_REFUSALS),
  isSingleUse: fc.boolean(),
  createdForm: fc.constantFrom<CreatedForm>(
    "payload",
    "top-level-id",
    "bare-201",
    "own-name",
    "list",
    "text-ids",
    "warning",
  ),
  refusalForm: fc.constantFrom<RefusalForm>(
    "406-errors",
    "success-false-200",
    "401-body",
    "detail",
  ),
  gzip: fc.boolean(),
});

const step = fc.record({
  /** How many at once. Every tenth one is a request that the platform refuses. */
  creates: fc.integer({ min: 1, max: 7 }),
  badOne: fc.boolean(),
  faults: fc.array(fault, { maxLength: 2 }),
  expire: fc.boolean(),
  /** Whether some time passes before it. */
  isLater: fc.boolean(),
});

/** Checks that a create's report agrees with the platform. */
function validator(name: string, ending: Ending, sandbox: Sandbox): void {
  const objects = sandbox.advertisers.filter((object) => object.advertiser_name === name);
  const what = `${name}: ${ending.kind} ${"message" in ending ? ending.message : ""}`;
  const ids = objects.map(({ id }) => String(id));
  switch (ending.kind) {
    case "created":
      expect(ids, what).toEqual(["id" in ending ? ending.id : ""]);
      break;
    case "OutcomeUnknownError":
      expect(ids.length, what).toBeLessThanOrEqual(1);
      break;
    case "RefusedError":
    case "RateLimitedError":
      expect(what).toContain("Nothing was created.");
      expect(ids, what).toEqual([]);
      break;
    case "NotSentError":
    case "LoginError":
      expect(what).toMatch(/not sent|Nothing was (created|changed)/i);
      expect(ids, what).toEqual([]);
      break;
    default:
      expect.fail(what);
  }
}

/** Makes a sequence that does not end a failure like any other. */
async function ended<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the creates did not end")), 8_000);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

it(`${RUNS} random sequences: every report is true (SEED=${seed})`, {
  timeout: RUNS * 1000,
}, async () => {
  const counts = new Map<string, number>();
  let posts = 0;
  await fc.assert(
    fc.asyncProperty(
      platform,
      fc.boolean(),
      fc.array(step, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      async (options, keepLoggedIn, steps, goesDown) => {
        const sandbox = await startInstallation({ ...options, loginsPerMinute: 1000 });
        const client = new TestClient(sandbox.url, {
          settings: { keepLoggedIn, maxWaitSeconds: 20, requestTimeoutSeconds: 10 },
        });
        try {
          let created = 0;
          for (const [
            index,
            { creates, badOne, faults, expire, isLater },
          ] of steps.entries()) {
            if (expire) sandbox.expireSessions();
            if (isLater) client.clock.advance(30_000);
            for (const rule of faults) sandbox.fail(rule);
            const names = Array.from({ length: creates }, (_, n) => `S${index}N${n}`);
            const endings = await ended(
              Promise.all(names.map((name) => client.create(name))),
            );
            if (badOne)
              endings.push(await client.createEvent("without an advertiser", 10_000));
            sandbox.endFaults();
            for (const [n, name] of names.entries())
              validator(name, endings[n] as Ending, sandbox);
            for (const { kind } of endings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
            created += endings.filter(({ kind }) => kind === "created").length;
          }
          expect(sandbox.events).toEqual([]);
          expect(sandbox.advertisers.length).toBeGreaterThanOrEqual(created);
          if (goesDown) {
            await sandbox.close();
            for (const [n, ending] of (await ended(client.createMany(2))).entries()) {
              validator(`A${n}`, ending, sandbox);
              counts.set(ending.kind, (counts.get(ending.kind) ?? 0) + 1);
            }
          }
          posts += sandbox.creates;
        } finally {
          await client.close();
          await sandbox.close();
        }
      },
    ),
    { numRuns: RUNS, seed, endOnFailure: true },
  );
  console.log(
    `${RUNS} sequences (SEED=${seed}), ${posts} POSTs:`,
    Object.fromEntries(counts),
  );
  // A run in which hardly anything succeeded, or nothing failed, would prove little.
  for (const kind of ["created", "OutcomeUnknownError", "RefusedError"])
    expect(counts.get(kind) ?? 0).toBeGreaterThan(RUNS / 10);
  for (const kind of ["NotSentError", "RateLimitedError", "LoginError"])
    expect(counts.get(kind) ?? 0, kind).toBeGreaterThan(RUNS / 50);
});
