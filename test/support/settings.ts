import type { SettingsReading } from "../../provider/src/settings/read-settings.js";
import type { Settings } from "../../provider/src/settings/settings.js";

/** Settings with which everything works, changed by `more`. */
export function settingsOf(more: Partial<Settings> = {}): Settings {
  return {
    baseUrl: "https://platform.example",
    email: "ops@example.com",
    password: "sandbox-password",
    authMode: "session",
    keepLoggedIn: false,
    authenticatePath: "rest/authenticate",
    cookieFile: undefined,
    maxWindowSeconds: 2_592_000,
    requestTimeoutSeconds: 20,
    maxWaitSeconds: 120,
    maxConcurrentRequests: 16,
    markField: undefined,
    formerAccount: undefined,
    operations: undefined,
    ...more,
  };
}

/** A reading of these settings, without problems. */
export const READ: SettingsReading = {
  settings: settingsOf(),
  proxy: undefined,
  problems: [],
  warnings: [],
  inherited: [],
  credentialsSource: "",
};
