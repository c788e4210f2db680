/** Properties as Pulumi's protocol carries them: structures in which secrets are marked. */
import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { mapValues, own, SIGNATURE_KEY, type Values } from "../base/index.js";

/** Pulumi's signature for a secret. */
const SECRET = "1b47061264138c4ac30d75fd1eb44270";

export interface Properties {
  values: Values;
  /** The names of the properties that are secret or contain a secret; in an event of a set, of `existingId` too. */
  secret: ReadonlySet<string>;
}

export function readProperties(struct: Struct | undefined) {
  const secret = new Set<string>();
  const values = mapValues(struct?.toJavaScript() ?? {}, (value, name) =>
    unmarked(name, value, (part) => {
      secret.add(name);
      if (part === "existingId") secret.add(part);
    }),
  );
  return { values, secret };
}

/** @param name the name that the value has in its object. */
function unmarked(name: string, value: unknown, onSecret: (name: string) => void): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => unmarked(name, each, onSecret));
  if (own(value, SIGNATURE_KEY) === SECRET) {
    onSecret(name);
    return unmarked(name, own(value, "value"), onSecret);
  }
  return mapValues({ ...value }, (part, inner) => unmarked(inner, part, onSecret));
}

/** Undefined values are left out. */
export function writeProperties({ values, secret }: Properties) {
  const marked = mapValues(values, (value, name) => {
    if (value === undefined || !secret.has(name)) return value;
    return { [SIGNATURE_KEY]: SECRET, value };
  });
  return Struct.fromJavaScript(JSON.parse(JSON.stringify(marked)));
}
