/** The login, the cookie file that keeps its session, private files, and locks. */
import crypto from "node:crypto";
import fs, { chmodSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { vi } from "vitest";
import { logInAnew } from "../../../provider/src/client/login.js";
import { TransportFailure } from "../../../provider/src/client/transport.js";
import { acquireLock, stateFolder } from "../../../provider/src/files/index.js";
import { journalErrorFrom } from "../../../provider/src/journal/journal-file.js";
import { replaceIn } from "../../support/builtin.js";
import { dependenciesOf } from "../../support/client-dependencies.js";
import { FakeClock } from "../../support/clock.js";
import { newFolder } from "../../support/folder.js";
import { foreignLock, lockText, takeOver } from "../../support/lock.js";
import {
  CREATED,
  clientOf,
  createOn,
  LOGGED_IN,
  type Response,
  response,
  settings,
  transportOf,
} from "./answered.js";
import { type Examples, rejectionOf } from "./examples.js";

/** The error of a login that gets these responses. */
function loginWith(...responses: Response[]) {
  const transport = transportOf([], responses);
  return rejectionOf(
    logInAnew(dependenciesOf({ settings, transport, say: () => undefined })),
  );
}

const limited = response(429, "", { "retry-after": "600" });
const noConnection = new TransportFailure("ENOTFOUND", false, "getaddrinfo ENOTFOUND");

interface CookieFileExample {
  /** What the run finds. */
  prepare?: (file: string) => void;
  /** What happens while it logs in. */
  atLogin?: (file: string) => void;
  /** What happens while it creates. */
  atCreate?: (file: string) => void;
  more?: Partial<typeof settings>;
}

/** What is said in a run with a cookie file, or its error. */
async function withCookieFile({
  prepare,
  atLogin,
  atCreate,
  more,
}: CookieFileExample): Promise<string> {
  const said: string[] = [];
  const cookieFile = join(newFolder(), "session.json");
  prepare?.(cookieFile);
  const inner = transportOf([{ ...CREATED, setCookies: LOGGED_IN.setCookies }]);
  const client = clientOf([], {
    settings: { ...settings, ...more },
    transport: {
      ...inner,
      send: async (request) => {
        if (request.url.pathname.endsWith("authenticate")) atLogin?.(cookieFile);
        else atCreate?.(cookieFile);
        return inner.send(request);
      },
    },
    cookieFile,
    say: (message) => void said.push(message),
  });
  const error = await createOn(client);
  // Equal messages are printed once.
  return error || [...new Set(said)].join("\n");
}

/** The same with a function of Node's that fails. */
async function failing<T extends object>(
  module: T,
  name: keyof T,
  code: string,
  prepare?: (file: string) => void,
) {
  const undo = replaceIn(module, {
    [name]: () => {
      throw Object.assign(new Error(`${code}: not permitted`), { code, syscall: name });
    },
  } as Partial<Record<keyof T, unknown>>);
  const message = await withCookieFile(prepare === undefined ? {} : { prepare });
  undo();
  return message;
}

function ofAnotherUser() {
  const { fstatSync } = fs;
  const undo = replaceIn(fs, {
    fstatSync: (file: number) => Object.assign(fstatSync(file), { uid: 12_345 }),
  });
  const prepare = (file: string) => writeFileSync(file, "{}", { mode: 0o600 });
  return withCookieFile({ prepare }).finally(undo);
}

async function ofAnotherAccount() {
  const cookieFile = join(newFolder(), "session.json");
  const said: string[] = [];
  for (const email of ["other@example.com", settings.email]) {
    const say = (message: string) => void said.push(message);
    const client = clientOf([CREATED], {
      settings: { ...settings, email },
      cookieFile,
      say,
    });
    await createOn(client);
  }
  return said.join("\n");
}

/** The journal's error for a file in the state folder, which the system refuses. On Linux, whatever this machine is. */
function inStateFolder(code: string) {
  const { platform } = process;
  Object.defineProperty(process, "platform", { value: "linux" });
  vi.stubEnv("XDG_STATE_HOME", newFolder());
  const path = join(stateFolder(), "x.jsonl");
  const { message } = journalErrorFrom(
    path,
    Object.assign(new Error(`${code}: no`), { code }),
  );
  vi.unstubAllEnvs();
  Object.defineProperty(process, "platform", { value: platform });
  return message;
}

/** The journal's error if its lock can't be taken. */
async function journalLock(make: (lock: string) => void) {
  const journal = join(newFolder(), "x.jsonl");
  const lock = `${journal}.lock`;
  make(lock);
  const options = { clock: new FakeClock(), maxWaitMs: 0 };
  try {
    (await acquireLock(lock, options)).release();
  } catch (error) {
    return journalErrorFrom(journal, error as Error).message;
  }
  return "";
}

const write = (text: string) => (file: string) =>
  writeFileSync(file, text, { mode: 0o600 });

export const login: Examples = {
  "wrong credentials": () => loginWith(response(401, { message: "no such user" })),
  "an address without a login": () => loginWith(response(404)),
  "a server that fails": () => loginWith(response(500)),
  "no connection": () => loginWith(noConnection),
  "a rate limit for longer than the run may wait": () => loginWith(limited),
  "an accepted login without a session": () =>
    loginWith({
      ...LOGGED_IN,
      setCookies: ["other=1; Path=/", "x_service_cookie=; Path=/", "secret"],
    }),
  "a later request of a run whose login failed": async () => {
    const client = clientOf([], { transport: transportOf([], [response(401)]) });
    await createOn(client);
    return createOn(client);
  },
  "a damaged cookie file": () => withCookieFile({ prepare: write("x") }),
  "a cookie file of a later version": () =>
    withCookieFile({ prepare: write('{ "version": 3 }') }),
  "a cookie file of another account": ofAnotherAccount,
  "a cookie file of another user": ofAnotherUser,
  "a cookie file that is a folder": () =>
    withCookieFile({ prepare: (file) => mkdirSync(file) }),
  "a cookie file that is too large": () =>
    withCookieFile({
      prepare: (file) => {
        write("")(file);
        truncateSync(file, 1024 ** 3);
      },
    }),
  "a cookie file in a folder for everybody": () =>
    withCookieFile({ prepare: (file) => chmodSync(dirname(file), 0o777) }),
  "a cookie file that others can read, on a volume without modes": () =>
    failing(fs, "fchmodSync", "EPERM", (file) => {
      writeFileSync(file, "{}");
      chmodSync(file, 0o644);
    }),
  "a cookie file that can't be opened": () => failing(fs, "openSync", "EACCES"),
  "a machine that allows no scrypt": () => failing(crypto, "scryptSync", "ERR_CRYPTO"),
  "a cookie file that changes while a long-lived session is used": () =>
    withCookieFile({
      more: { keepLoggedIn: true },
      atCreate: write('{ "version": 3 }'),
    }),
  "a cookie file whose lock another run holds": () =>
    withCookieFile({
      prepare: (file) => write(lockText(process.pid, { host: "build-7" }))(`${file}.lock`),
    }),
  "a cookie file whose lock is lost during the login": () =>
    withCookieFile({ atLogin: (file) => takeOver(`${file}.lock`) }),
  "a journal whose lock another run holds": () => journalLock(write(foreignLock)),
  "a journal whose lock is damaged": () => journalLock(write("x")),
  "a journal whose lock is a folder": () => journalLock((lock) => mkdirSync(lock)),
  "a journal, with a state folder of another user": () => inStateFolder("EACCES"),
};
