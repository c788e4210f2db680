/**
 * The objects that a resource declares, each with its whole arguments: itself, or the members of a set.
 */

import { asRecord, own } from "../base/index.js";
import type { Kind, Limits, SetKind } from "../kinds/index.js";
import { isContainer } from "../rules/index.js";
import { eventIn, memberOf } from "../state/index.js";
import type { Compared } from "./same-arguments.js";

/** @returns each with the path of its arguments in the resource's, which is empty or ends with a dot. */
export function comparedIn(
  { kind, ...declared }: Omit<Compared, "kind"> & { readonly kind: Kind | SetKind },
  limits: Limits,
): (Compared & { readonly path: string })[] {
  if (!("member" in kind)) return [{ kind, ...declared, path: "" }];
  const { name, args, values, fits } = declared;
  const shared = {
    advertiserId: values.advertiserId,
    defaults: { ...kind.defaultsIn(limits), ...(isContainer(values.defaults) ? values.defaults : {}) },
  };
  return Object.entries(isContainer(values.events) ? values.events : {})
    .filter(([, entry]) => isContainer(entry))
    .map(([key, entry]) => {
      const given = asRecord(own(args.events, key));
      return {
        kind: kind.member,
        name: memberOf(name, key),
        args: eventIn({ advertiserId: args.advertiserId, defaults: args.defaults }, given),
        values: { ...eventIn(shared, entry), existingId: entry.existingId },
        fits,
        path: `${memberOf("events", key)}.`,
      };
    });
}
