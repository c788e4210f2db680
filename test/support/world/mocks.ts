/**
 * Replaces this process's time, randomness, disk, connections and command line with a world's. Import it first.
 */
import { vi } from "vitest";

vi.mock("node:crypto", async (original) => {
  const { nextUuid } = await import("./time.js");
  const real = await original<typeof import("node:crypto")>();
  const scrypt = (
    password: string,
    salt: Buffer,
    length: number,
    _: object,
    done: (error: null, key: Buffer) => void,
  ) => done(null, real.scryptSync(password, salt, length, { N: 2 }));
  return { ...real, randomUUID: nextUuid, scrypt };
});
vi.mock("node:timers", async (original) => {
  const { later } = await import("./time.js");
  return { ...(await original<typeof import("node:timers")>()), setTimeout: later };
});
vi.mock("../../../provider/src/files/disk.js", async (original) => {
  const { diskNow } = await import("./disk.js");
  return { ...(await original<object>()), systemDisk: diskNow };
});
vi.mock("node:timers/promises", async (original) => {
  const { timeout } = await import("./time.js");
  return { ...(await original<typeof import("node:timers/promises")>()), setTimeout: timeout };
});
vi.mock("../../../provider/src/client/transport.js", async (original) => {
  const { transportNow } = await import("./wire.js");
  return { ...(await original<object>()), createTransport: transportNow };
});
vi.mock("../../../provider/src/tools/pulumi.js", async (original) => {
  const { cliNow } = await import("./wire.js");
  const { readSettings } = await import("../../../provider/src/settings/index.js");
  return {
    ...(await original<object>()),
    exportOf: () => cliNow().exported(),
    stackName: async () => cliNow().stack,
    settingsOf: async () => cliNow().settings,
    readingOf: async () => ({
      reading: readSettings({ config: (key) => cliNow().settings[key], environment: {}, mayLackPassword: false }),
      origin: "of the world",
    }),
    setTag: (_: unknown, value: string) => cliNow().setTag(value),
    tagOf: () => cliNow().tag(),
    importInto: async (_: unknown, stack: object, check: () => Promise<void>) => {
      await check();
      return cliNow().imported(JSON.stringify(stack));
    },
  };
});

// The product loads this when it first needs it, and time would pass meanwhile.
await import("../../../provider/src/tools/pending-search.js");
const { takeOverTime } = await import("./time.js");
const { keepWhatIsPrinted } = await import("./wire.js");
takeOverTime();
keepWhatIsPrinted();
