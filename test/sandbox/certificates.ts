/**
 * Certificates that are made for one test run, so that the repository has no keys, and none ever expires unnoticed:
 * X.509 version 3 (RFC 5280, section 4.1), with only as much DER as that needs.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  readonly name: string;
  /** Who signs it. @default itself */
  readonly issuer?: { readonly name: string; readonly key: string };
  /** Valid from, in days from now; with `to`. @default -1 to 30 */
  readonly from?: number;
  readonly to?: number;
  /** The host that it is valid for. @default the address 127.0.0.1 */
  readonly host?: string;
  /** Whether it may sign other certificates. */
  readonly authority?: boolean;
}

export function makeCertificate({
  name,
  issuer,
  from = -1,
  to = 30,
  host,
  authority = false,
}: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" }) as string;
  const algorithm = sequence(oid("2a8648ce3d040302")); // ecdsa-with-SHA256
  const alternative =
    host === undefined
      ? der(0x87, Buffer.from([127, 0, 0, 1]))
      : der(0x82, Buffer.from(host));
  const extensions = [
    sequence(
      oid("551d13"),
      der(0x04, authority ? sequence(der(0x01, Buffer.from([0xff]))) : sequence()),
    ),
    ...(authority ? [] : [sequence(oid("551d11"), der(0x04, sequence(alternative)))]),
  ];
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    distinguishedName(issuer?.name ?? name),
    sequence(time(from), time(to)),
    distinguishedName(name),
    publicKey.export({ type: "spki", format: "der" }) as Buffer,
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", content, issuer?.key ?? (privateKey as KeyObject));
  const bytes = sequence(
    content,
    algorithm,
    der(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
    key,
  };
}

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))));
}

/** A GeneralizedTime that is `days` days from now. */
function time(days: number): Buffer {
  const text = new Date(Date.now() + days * 86_400_000)
    .toISOString()
    .replace(/[-:T]|\.\d+/g, "");
  return der(0x18, Buffer.from(text));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 128
      ? [length]
      : length < 256
        ? [0x81, length]
        : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
