/**
 * The settings that a command works with: those of the stack, as its programs read them, or of the environment.
 */
import { readSettings, type SettingsReading } from "../settings/index.js";
import { stackName, stackSettings } from "./pulumi.js";

/** @returns the settings, and in words where they come from. */
export async function readingOf({
  passed,
}: {
  readonly passed: readonly string[];
}): Promise<{ reading: SettingsReading; origin: string }> {
  const environment = process.env;
  const stack = await stackName(passed);
  // A machine that just logs in needs neither a stack nor Pulumi; a stack that was named must be there.
  if (stack === undefined && passed.length === 0) {
    const reading = readSettings({ config: () => undefined, environment, mayLackPassword: false });
    return { reading, origin: "of the environment, since no stack is selected here" };
  }
  const settings = await stackSettings(passed);
  const reading = readSettings({
    config: (key) => settings.get(key)?.value,
    environment,
    keys: [...settings.keys()],
    isSecret: (key) => settings.get(key)?.secret ?? false,
    mayLackPassword: false,
  });
  return { reading, origin: `of the stack ${stack}` };
}
