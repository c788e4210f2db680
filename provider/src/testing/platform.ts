/**
 * Stands for the provider and the platform in a user's unit test: it holds the values that arrive against the rules, fills in the
 * defaults, and hands out ids. The mocks of `index.ts` ask it for each resource that Pulumi registers.
 */
import type { MockResourceArgs } from "@pulumi/pulumi/runtime/mocks.js";
import { unwrapRpcSecret } from "@pulumi/pulumi/runtime/rpc.js";
import { asRecord } from "../base/index.js";
import { adviceFor, type Kind, kindOfType, type SetKind, setOfType } from "../kinds/index.js";
import { type Finding, findingOf, programError } from "../program/index.js";
import { exactId, type Reading, validate } from "../rules/index.js";
import type { SettingsReading } from "../settings/index.js";
import { labelOf, UNKNOWN } from "../state/index.js";

/** A resource of this package, as the program under test declares it. */
export interface DeclaredResource {
  readonly type: "Advertiser" | "ConversionEvent" | "ConversionEventSet";
  readonly name: string;
  /** As in the resource's `id`. */
  readonly id: string;
  /** Its outputs: the arguments with their defaults, and the ids. */
  readonly outputs: Readonly<Record<string, unknown>>;
}

const READING: Reading = {
  advice: adviceFor,
  isUnknown: (value) => value === UNKNOWN,
  arrivedUndefined: "is the output's name right?",
};

/** Each program under test has one of its own. */
export class Platform {
  readonly #reading: () => SettingsReading;
  readonly #findings: Finding[] = [];
  #ids = 0;
  #isTold = false;

  /** @param reading the settings of the program that is under test. */
  constructor(reading: () => SettingsReading) {
    this.#reading = reading;
  }

  /**
   * Checks a resource's arguments against its rules, now with the values of Outputs. Pulumi makes a rejection that nobody can
   * handle of each error that a mock throws, so what is wrong is kept for {@link expectGood}.
   * @returns `undefined` for a resource of another package.
   */
  register({ type, name, inputs, id }: MockResourceArgs): DeclaredResource | undefined {
    const kind = kindOfType(type);
    const set = setOfType(type);
    if (kind !== undefined && id) return readResource(kind, name, id);
    if (kind !== undefined) return this.#create(kind, name, this.#checked(kind, name, inputs));
    if (set !== undefined) return this.#createSet(set, name, this.#checked(set, name, inputs));
    return undefined;
  }

  /** @throws pulumi.RunError that lists everything that was wrong with the resources so far. */
  expectGood(): void {
    if (this.#findings.length === 0) return;
    this.#isTold = true;
    throw programError(this.#reading(), this.#findings, "`pulumi up` would stop there");
  }

  /** Called before the next program begins: it throws the same, unless the test has seen it already. */
  expectTold(): void {
    if (!this.#isTold) this.expectGood();
  }

  #create({ name: type, idProperty }: Kind, name: string, outputs: Record<string, unknown>): DeclaredResource {
    const id = this.#idOf(outputs);
    return { type, name, id, outputs: { ...outputs, [idProperty]: exactId(id) } };
  }

  #createSet(set: SetKind, name: string, outputs: Record<string, unknown>): DeclaredResource {
    const defaults = { ...set.defaultsIn(this.#reading().settings), ...asRecord(outputs.defaults) };
    const eventIds = Object.entries(asRecord(outputs.events)).map(([key, entry]) => [
      key,
      exactId(this.#idOf(asRecord(entry))),
    ]);
    const all = { ...outputs, defaults, eventIds: Object.fromEntries(eventIds) };
    return { type: set.name, name, id: `set-${name}`, outputs: all };
  }

  #idOf({ existingId }: Readonly<Record<string, unknown>>): string {
    if (existingId !== undefined) return String(existingId);
    this.#ids += 1;
    return String(this.#ids);
  }

  /** Keeps what is wrong with the arguments, and returns those that passed, with their defaults. */
  #checked(kind: Kind | SetKind, name: string, inputs: unknown): Record<string, unknown> {
    const given = Object.entries(asRecord(inputs)).map(([property, value]) => [property, unwrapRpcSecret(value)]);
    const { values, problems } = validate(Object.fromEntries(given), kind.rules(this.#reading().settings), READING);
    if (problems.length > 0) this.#findings.push(findingOf(labelOf(kind.name, name), problems));
    return values;
  }
}

function readResource({ name: type, idProperty }: Kind, name: string, id: string): DeclaredResource {
  return { type, name, id, outputs: { [idProperty]: exactId(id) } };
}
