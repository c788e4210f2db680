/** Real runs through a real proxy, to a platform whose name nothing but the proxy knows. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeCertificate } from "../sandbox/certificates.js";
import { startProxy, startTlsFront } from "../support/proxy.js";
import { eventsProgram, newStack, useSandbox } from "../support/stack.js";

const authority = makeCertificate({ name: "test authority", authority: true });
const issuer = { name: "test authority", key: authority.key };
const credentials = "proxy-user:needle-of/proxy+1";
const needles = [
  "needle-of/proxy+1",
  encodeURIComponent("needle-of/proxy+1"),
  Buffer.from(credentials).toString("base64"),
];
const encoded = credentials.split(":").map(encodeURIComponent).join(":");

async function start(accepted: string) {
  const sandbox = await useSandbox();
  const certificate = makeCertificate({ name: "platform", issuer, host: "platform.test" });
  const proxy = await startProxy({
    to: await startTlsFront(certificate, Number(new URL(sandbox.url).port)),
    credentials: accepted,
  });
  const stack = await newStack(eventsProgram(3), {
    sandbox,
    environment: { ADVERTISING_BASE_URL: "https://platform.test", NODE_DEBUG: "http,undici,net,tls" },
  });
  stack.write("authority.pem", authority.cert);
  stack.setEnvironment({ NODE_EXTRA_CA_CERTS: join(stack.programFolder, "authority.pem") });
  return { sandbox, proxy, stack };
}

it.each<[string, Record<string, string>]>([
  ["HTTPS_PROXY", {}],
  // Pulumi itself takes the one in small letters for its way to the engine on this machine, unless no_proxy excepts it.
  ["https_proxy", { no_proxy: "127.0.0.1" }],
])("%s: an up goes through the proxy", async (variable, environment) => {
  const { sandbox, proxy, stack } = await start(credentials);
  stack.setEnvironment({ [variable]: `http://${encoded}@${proxy.host}`, ...environment });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 3 });
  expect(new Set(proxy.asked)).toEqual(new Set(["platform.test:443"]));
  const state = await stack.exported();
  for (const needle of needles) {
    for (const text of [output, state]) expect(text).not.toContain(needle);
  }
});

it("a proxy that refuses the credentials, and a variable that names none, are told without them", async () => {
  const { sandbox, proxy, stack } = await start("proxy-user:another");
  stack.setEnvironment({ HTTPS_PROXY: `http://${encoded}@${proxy.host}` });
  const refused = await stack.up();
  expect(refused.code).not.toBe(0);
  expect(refused.output).toContain(`the proxy ${proxy.host} (HTTPS_PROXY) returned status 407`);
  expect(refused.output).toContain("Nothing was created.");
  expect(proxy.asked).toEqual(["platform.test:443"]);

  stack.setEnvironment({ HTTPS_PROXY: `${encoded}@${proxy.host}` });
  const preview = await stack.preview();
  expect(preview.code).not.toBe(0);
  expect(preview.output).toMatch(/HTTPS_PROXY expected a proxy's address that begins with http:\/\/ or https:\/\//);
  for (const needle of needles) {
    for (const { output } of [refused, preview]) expect(output).not.toContain(needle);
  }
  expect(proxy.asked).toHaveLength(1);
  expect(sandbox.requests).toEqual([]);
  expect(await stack.resources()).toEqual([]);
});
