/**
 * What a preview says of a catalog as a whole, once the engine has asked about each of its resources: only then it is known what
 * the state holds of them.
 */
import { CATALOG_SEPARATOR, CATALOG_TYPE } from "../kinds/index.js";
import { aboutWhom, identityText, parseIdentity, urnOf } from "../state/index.js";
import type { Messages } from "./messages.js";
import type { KnownSubject } from "./subject.js";

/** In the order in which they are told. */
const ACTIONS = ["adopt", "create", "replace", "update", "leave"] as const;
export type Planned = (typeof ACTIONS)[number];

interface Plan {
  /** How many resources the catalog declares; none before it is told. */
  expected: number | undefined;
  /** By journal key. What is noted first counts: the engine asks about a replacement again as about a new resource. */
  readonly actions: Map<string, Planned>;
}

export class CatalogPlans {
  readonly #plans = new Map<string, Plan>();

  constructor(readonly tellAt: Messages["tellAt"]) {}

  /** @param subject one of the catalog's resources. @param resources how many there are. */
  expect(subject: KnownSubject, resources: number): void {
    this.#change(subject, (plan) => {
      plan.expected = resources;
    });
  }

  note(subject: KnownSubject, action: Planned): void {
    this.#change(subject, ({ actions }) => {
      if (!actions.has(subject.key)) actions.set(subject.key, action);
    });
  }

  #change(subject: KnownSubject, change: (plan: Plan) => void): void {
    const catalog = catalogOf(subject);
    if (catalog === undefined) return;
    const plan = this.#plans.get(catalog) ?? { expected: undefined, actions: new Map() };
    this.#plans.set(catalog, plan);
    change(plan);
    if (plan.expected !== plan.actions.size) return;
    this.#plans.delete(catalog);
    const planned = [...plan.actions.values()];
    // An unchanged catalog needs no words.
    if (planned.every((action) => action === "leave")) return;
    const counts = ACTIONS.map((action) => ({ action, amount: planned.filter((each) => each === action).length }));
    const told = counts.filter(({ amount }) => amount > 0).map(({ action, amount }) => `${action} ${amount}`);
    this.tellAt("info", catalog, told.join(", "));
  }
}

/** The URN of the catalog that a resource is of: an advertiser is `<catalog>/<key>`, an event `<catalog>/<advertiser>/<key>`. */
function catalogOf({ identity, key }: KnownSubject): string | undefined {
  const { parentTypes = "", name, ...place } = parseIdentity(identity);
  const types = parentTypes.split("$");
  if (types.at(-1) !== CATALOG_TYPE) return undefined;
  const above = types.slice(0, -1).join("$");
  const catalog = name.split(CATALOG_SEPARATOR).slice(0, aboutWhom(key).kind === "Advertiser" ? -1 : -2);
  const itself = { ...place, parentTypes: above === "" ? undefined : above, name: catalog.join(CATALOG_SEPARATOR) };
  return urnOf(identityText(itself), CATALOG_TYPE);
}
