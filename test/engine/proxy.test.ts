/** A real run through a real proxy, to a platform whose name nothing but the proxy knows. */
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

it("an up goes through the proxy, and tells nobody its credentials", async () => {
  const sandbox = await useSandbox();
  const certificate = makeCertificate({ name: "platform", issuer, host: "platform.test" });
  const front = await startTlsFront(certificate, Number(new URL(sandbox.url).port));
  const proxy = await startProxy({ to: front, credentials });
  const stack = await newStack(eventsProgram(3), {
    sandbox,
    environment: {
      ADVERTISING_BASE_URL: "https://platform.test",
      NODE_DEBUG: "http,undici,net,tls",
      https_proxy: `http://${encoded}@${proxy.host}`,
      // Pulumi itself takes the one in small letters for its way to the engine on this machine, unless this excepts it.
      no_proxy: "127.0.0.1",
    },
  });
  stack.write("authority.pem", authority.cert);
  stack.setEnvironment({ NODE_EXTRA_CA_CERTS: join(stack.programFolder, "authority.pem") });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 3 });
  expect(new Set(proxy.asked)).toEqual(new Set(["platform.test:443"]));
  const state = await stack.exported();
  for (const needle of needles) {
    for (const text of [output, state]) expect(text).not.toContain(needle);
  }
});
