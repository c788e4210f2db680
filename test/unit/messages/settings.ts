/** The settings of a stack, and the environment's variables. */
import {
  describeSettingProblems,
  problemsBeside,
  readSettings,
} from "../../../provider/src/settings/index.js";
import type { Examples } from "./examples.js";

type Texts = Readonly<Record<string, string>>;

const COMPLETE = {
  baseUrl: "https://platform.example.com",
  email: "you@example.com",
  password: "pw",
};

function read(config: Texts, environment: Texts = {}, mayLackPassword = false) {
  return readSettings({
    config: (key) => config[key],
    environment,
    keys: Object.keys(config),
    isSecret: () => false,
    mayLackPassword,
  });
}

const problems = (config: Texts, environment?: Texts) =>
  describeSettingProblems(read(config, environment).problems);

export const settings: Examples = {
  "no settings at all": () => problems({}),
  "a preview without a password": () =>
    read({ ...COMPLETE, password: "" }, {}, true).warnings.join("\n"),
  "a password that only the program has": () =>
    describeSettingProblems(
      problemsBeside(read({ ...COMPLETE, password: "" }, {}, true), ["password"]),
    ),
  "every setting wrong": () =>
    problems(
      {
        baseUrl: "http://platform.example.com",
        email: '"you@example.com"',
        authMode: "token",
        keepLoggedIn: "yes",
        authenticatePath: "../login",
        cookieFile: "~somebody/cookies",
        maxWindowSeconds: "30 days",
        requestTimeoutSeconds: "0",
        maxConcurrentRequests: "many",
        markField: "event_name",
        formerAccount: "platform.example.com",
        operations: "GET rest/event/{id}",
        baseurl: "https://platform.example.com",
        colour: "red",
        "operations.event.reed": "GET x",
      },
      {
        ADVERTISING_PASSWORD: "pw\n",
        ADVERTISING_MAX_WAIT_SECONDS: "-1",
        HTTPS_PROXY: "socks5://proxy.example.com",
      },
    ),
  "wrong operations": () =>
    problems({
      ...COMPLETE,
      operations: JSON.stringify({
        event: {
          read: "GET https://elsewhere.example/{id}",
          update: "POST rest/event?id={id}",
          delete: "GET rest/event/{id}",
          search: "GET rest/event?alternative_id={mark}",
        },
        advertiser: "GET rest/advertiser/{id}",
        resendAfterSeconds: "soon",
        createdVisibleAfterSeconds: 100_000,
      }),
    }),
  "a search without the field that it looks for": () =>
    problems({
      ...COMPLETE,
      operations: '{"event":{"search":"GET rest/event?alternative_id={mark}"}}',
    }),
  "a password in plain text": () => read(COMPLETE).warnings.join("\n"),
};
