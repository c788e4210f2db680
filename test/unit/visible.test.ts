import { expect, it } from "vitest";
import { visibleFromMs } from "../../provider/src/decision/decide.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";

it.each([
  [undefined, 1000],
  [{}, 301_000],
  [{ createdVisibleAfterSeconds: 0 }, 1000],
  [{ createdVisibleAfterSeconds: 20 }, 21_000],
])(
  "R1: with the setting %j, the absence of what was created at 1 s proves something from %d ms on",
  (setting, fromMs) => {
    expect(visibleFromMs(1000, { operations: operationsSchema.parse(setting) })).toBe(fromMs);
  },
);
