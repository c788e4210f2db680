/** What a signal does to the provider process: before, in and right after a call of the engine. */
import { afterEach, expect, it, vi } from "vitest";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import { Work } from "../../provider/src/operations/runtime.js";
import { endBySignals } from "../../provider/src/operations/signals.js";

const { pauses } = vi.hoisted(() => ({ pauses: [] as number[] }));

vi.mock("node:timers/promises", async (original) => ({
  ...(await original<object>()),
  setTimeout: async (ms: number) => void pauses.push(ms),
}));

afterEach(() => {
  vi.restoreAllMocks();
  pauses.length = 0;
});

function start(hasEngine = true) {
  const handlers = new Map<string | symbol, () => void>();
  vi.spyOn(process, "on").mockImplementation((signal, handler) => {
    handlers.set(signal, handler);
    return process;
  });
  const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
  const work = new Work();
  const close = vi.fn(async () => undefined);
  endBySignals(() => ({ work, close }) as unknown as Runtime, hasEngine);
  const signal = (name = "SIGTERM") => handlers.get(name)?.();
  const ended = () => vi.waitFor(() => expect(exit).toHaveBeenCalledWith(0));
  return { work, close, exit, signal, ended, handlers };
}

it("one process handles both signals", () => {
  expect([...start().handlers.keys()]).toEqual(["SIGINT", "SIGTERM"]);
});

it("an idle process begins nothing more, and ends", async () => {
  const { work, close, signal, ended } = start();
  signal("SIGINT");
  await expect(work.track(async () => "sent")).rejects.toThrow("Not sent");
  await ended();
  expect(close).toHaveBeenCalledOnce();
  expect(pauses).toEqual([0]);
});

it("what is in flight goes on, and the engine's own signal ends the process once it has the result", async () => {
  const { work, close, exit, signal, ended } = start();
  const { promise, resolve } = Promise.withResolvers<string>();
  const call = work.hold(promise);
  signal();
  signal();
  await new Promise(setImmediate);
  expect(exit).not.toHaveBeenCalled();
  resolve("5");
  expect(await call).toBe("5");
  signal("SIGINT");
  await ended();
  expect(close).toHaveBeenCalledOnce();
  // Until the engine has the result.
  expect(pauses).toEqual([expect.any(Number)]);
  expect(pauses[0]).toBeLessThanOrEqual(100);
});

it("a debugged plugin, which no engine ends, ends once what was in flight has its result", async () => {
  const { work, close, exit, signal, ended } = start(false);
  const { promise, resolve } = Promise.withResolvers<string>();
  const call = work.hold(promise);
  signal();
  signal("SIGINT");
  await new Promise(setImmediate);
  expect(exit).not.toHaveBeenCalled();
  resolve("5");
  expect(await call).toBe("5");
  await ended();
  expect(close).toHaveBeenCalledOnce();
  expect(pauses).toEqual([expect.any(Number)]);
  expect(pauses[0]).toBeGreaterThan(50);
});

it("a result that is known right now isn't lost: the process waits until the engine has it", async () => {
  const { work, signal, ended } = start();
  vi.spyOn(work, "idleMs", "get").mockReturnValue(1);
  signal();
  await ended();
  expect(pauses).toEqual([99]);
});
