/** Properties as Pulumi's protocol carries them: structures in which secrets are marked. */
import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { own, type Values } from "../base/index.js";

/** Pulumi's signature key for values that aren't plain data, and its signature for a secret. */
const SIGNATURE = "4dabf18193072939515e22adb298388d";
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

export interface Properties {
  values: Values;
  /** The names of the properties that are secret or contain a secret. */
  secret: ReadonlySet<string>;
}

export function readProperties(struct: Struct | undefined): Properties {
  const secret = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(struct?.toJavaScript() ?? {}))
    values[name] = unmarked(value, () => secret.add(name));
  return { values, secret };
}

function unmarked(value: unknown, onSecret: () => void): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => unmarked(each, onSecret));
  if (own(value, SIGNATURE) === SECRET) {
    onSecret();
    return unmarked(own(value, "value"), onSecret);
  }
  // No rule accepts a symbol.
  if (Object.hasOwn(value, SIGNATURE)) return Symbol("an asset or archive");
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([name, part]) => [name, unmarked(part, onSecret)]),
  );
}

/** @param values Undefined ones are left out. @param secret the names of the properties to mark. */
export function writeProperties(values: Values, secret: ReadonlySet<string>): Struct {
  const marked = Object.entries(values).map(([name, value]) => {
    if (value === undefined || !secret.has(name)) return [name, value];
    return [name, { [SIGNATURE]: SECRET, value }];
  });
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(Object.fromEntries(marked))));
}
