/**
 * Tag addresses: the platform's are not known, so they come from the user's own template.
 */
import { enumerate, nearest } from "../base/index.js";
import type { Entry } from "./contents.js";
import { SECRET, shown } from "./secret.js";

/** What a template may name in braces, beside the arguments of an event. */
const ARGUMENTS = ["eventName", "advertiserId", "eventTypeId", "segmentId", "value"] as const;
const NAMES = ["id", "key", ...ARGUMENTS];

/** An event with its id. */
export type Identified = Entry & { readonly id: string };

/**
 * @param template such as `https://tags.example.com/e?id={id}`.
 * @returns the address of an event, with each value percent-encoded. @throws Error where the template is none.
 */
export function addressesBy(template: string): (event: Identified) => string {
  const named = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);
  const unknown = [...new Set(named)].filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    const told = unknown.map((name) => {
      const meant = nearest(name, NAMES);
      return `{${name}}${meant === undefined ? "" : ` (did you mean {${meant}}?)`}`;
    });
    throw new Error(`--template knows ${enumerate(NAMES.map((name) => `{${name}}`))}; got ${enumerate(told)}`);
  }
  if (!named.includes("id")) throw new Error("--template needs {id}: without it all events have one address");
  return (event) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (name === "id") return event.id;
      if (name === "key") return encodeURIComponent(event.key);
      const value = event.values[name];
      if (value === SECRET) throw new Error(`--template names {${name}}, which is secret of the event ${event.key}`);
      return encodeURIComponent(shown(value));
    });
}
