/** What a refused request means for a login, for each way to log in, as tables. */
import { expect, it } from "vitest";
import { credentialsOf, type Login } from "../../provider/src/client/login.js";
import { PatientSender } from "../../provider/src/client/patient.js";
import { SessionJar } from "../../provider/src/client/session-file.js";
import type { SessionSign } from "../../provider/src/client/session-refusal.js";
import { SessionStore } from "../../provider/src/client/session-store.js";
import { settingsOf } from "../support/settings.js";
import { surroundingsOf } from "../support/surroundings.js";

type Standing = Parameters<Login["judge"]>[1];
type Verdict = ReturnType<Login["judge"]>;

const url = new URL("https://platform.example/rest/event");
const fresh: Standing = { hasAccepted: false, hasEnded: false, ageMs: 0, isIncurable: false };
const used: Standing = { ...fresh, hasAccepted: true };

function open(authMode: "session" | "basic", restored = false) {
  const [settings, surroundings] = [settingsOf({ authMode }), surroundingsOf()];
  const store = Object.assign(new SessionStore(settings, surroundings), {
    open: async () => ({ jar: new SessionJar(), loginId: "one", restored }),
  });
  const openLogin = credentialsOf(settings, surroundings, new PatientSender(settings, surroundings), store);
  return { secrets: surroundings.secrets, login: openLogin(url) };
}

it.each<[string, SessionSign, Standing, Verdict]>([
  ["words about a login, at once", "clear", fresh, "ended"],
  ["words about a login, again after a new login", "clear", { ...used, isIncurable: true }, "refused"],
  ["a bare 403, at once", "bare", fresh, "refused"],
  ["a bare 403, after others were accepted", "bare", used, "ended"],
  ["a bare 403, again after a new login", "bare", { ...used, isIncurable: true }, "refused"],
  ["other words, on a young session", "doubtful", used, "accepted"],
  ["other words, after a minute", "doubtful", { ...used, ageMs: 60_000 }, "ended"],
  ["a bare 403, after a minute", "bare", { ...fresh, ageMs: 60_000 }, "ended"],
  [
    "other words, after another request has found that the session ended",
    "doubtful",
    { ...used, hasEnded: true },
    "ended",
  ],
  ["again, but a minute later", "clear", { ...used, ageMs: 60_000, isIncurable: true }, "ended"],
])("cookies: %s", async (_, sign, standing, verdict) => {
  expect((await open("session").login).judge(sign, standing)).toBe(verdict);
});

it.each<SessionSign>(["clear", "bare", "doubtful"])("a session from an earlier run: %s ends it", async (sign) => {
  expect((await open("session", true).login).judge(sign, { ...fresh, isIncurable: true })).toBe("ended");
});

it.each<[string, SessionSign, Standing, Verdict]>([
  ["words about a login, at once", "clear", fresh, "wrong"],
  ["words about a login, after others were accepted", "clear", used, "refused"],
  ["a bare 403", "bare", fresh, "accepted"],
  ["other words", "doubtful", fresh, "accepted"],
])("Basic: %s", async (_, sign, standing, verdict) => {
  expect((await open("basic").login).judge(sign, standing)).toBe(verdict);
});

it("Basic: the credentials of each request are scrubbed", async () => {
  const { secrets, login } = open("basic");
  const { authorization } = await (await login).headers(url);
  expect(authorization).toMatch(/^Basic \S+$/);
  expect(secrets.scrub(String(authorization))).toBe("Basic [secret]");
});
