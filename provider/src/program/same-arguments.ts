/**
 * What is wrong between resources rather than in one of them: the same object adopted twice, the same arguments given twice.
 */
import * as pulumi from "@pulumi/pulumi";
import { cut, enumerate, type Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { Problem } from "../rules/index.js";

export interface Compared {
  readonly kind: Kind;
  readonly name: string;
  /** As they were given. */
  readonly args: Values;
  /** The values that passed. */
  readonly values: Values;
  /** Whether all of them did. */
  readonly fits: boolean;
}

/** Looks at one resource after the other. */
export class Comparison {
  /** By kind and existingId: the name of the resource that adopts it. */
  readonly #adopted = new Map<string, string>();
  /** By kind and arguments. */
  readonly #same = new Map<string, string[]>();
  readonly #outputs = new Map<object, number>();
  readonly #told = new Set<string>();

  /** @returns what is wrong with adopting what it adopts. */
  add({ kind, name, args, values, fits }: Compared): Problem[] {
    const { existingId } = values;
    if (existingId === undefined) {
      if (!fits) return [];
      const key = `${kind.name} ${this.#textOf({ ...values, ...notData(args) })}`;
      this.#same.set(key, [...(this.#same.get(key) ?? []), name]);
      return [];
    }
    if (typeof existingId !== "number" && typeof existingId !== "string") return [];
    const key = `${kind.name} ${existingId}`;
    const other = this.#adopted.get(key);
    this.#adopted.set(key, other ?? name);
    if (other === undefined) return [];
    const reason = `${existingId} is adopted by "${other}" already: one object can't be two resources`;
    return [{ property: "existingId", reason }];
  }

  /** Of resources that would make the same object, two or more together; each warning once. */
  newWarnings(): string[] {
    const warnings = [...this.#same]
      .filter(([, names]) => names.length > 1)
      .map(([key, names]) => duplicateWarning(key.slice(0, key.indexOf(" ")), names))
      .filter((warning) => !this.#told.has(warning));
    for (const warning of warnings) this.#told.add(warning);
    return warnings;
  }

  /** Equal for equal arguments; an Output or a resource is equal to itself alone. */
  #textOf(args: Values): string {
    const given = Object.entries(args).filter(([, value]) => value !== undefined);
    return JSON.stringify(
      given.sort(([a], [b]) => (a < b ? -1 : 1)),
      (_, value: unknown) => {
        if (typeof value === "bigint" || typeof value === "symbol" || typeof value === "function") return String(value);
        return isNotData(value) ? { output: this.#numberOf(value) } : value;
      },
    );
  }

  #numberOf(output: object): number {
    const number = this.#outputs.get(output) ?? this.#outputs.size;
    this.#outputs.set(output, number);
    return number;
  }
}

function duplicateWarning(kind: string, names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
  return `${kind} ${enumerate(cut(quoted, MAX_NAMES, (others) => `${others} more`))} have the same arguments: that makes ${names.length} live objects.`;
}

const MAX_NAMES = 5;

/** What is not known yet, as it was given; the rest is compared with its defaults and in one form. */
function notData(args: Values): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args)
      .filter(([, value]) => isNotData(value))
      // An advertiser stands for its id.
      .map(([name, value]) => [name, (value as Record<string, unknown>)[name] ?? value]),
  );
}

function isNotData(value: unknown): value is object {
  return pulumi.Output.isInstance(value) || pulumi.Resource.isInstance(value) || value instanceof Promise;
}
