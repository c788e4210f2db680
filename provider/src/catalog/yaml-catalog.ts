/**
 * The advertisers and events of a YAML or JSON file. What has the wrong shape is told here; what has the wrong value, by its
 * rules.
 */

import { didYouMean, type Values } from "../base/index.js";
import { isContainer, type Source, show } from "../rules/index.js";
import { fieldNamed } from "./catalog-fields.js";
import { keyOf } from "./keys.js";
import type { Finding, Written, WrittenAdvertiser, WrittenCatalog, WrittenEvent } from "./written.js";
import { errorAt } from "./written.js";
import type { Path, YamlFile } from "./yaml-file.js";

/** `$schema` is for editors. */
const TOP = ["$schema", "defaults", "rules", "advertisers", "eventsFile"];

export interface YamlCatalog extends WrittenCatalog {
  /** A CSV file with events, relative to the catalog, and where it is named. */
  readonly eventsFile: { readonly path: string; readonly source: Source } | undefined;
}

export function readYamlCatalog(yaml: YamlFile, file: string): YamlCatalog {
  return new Reader(yaml, file).read();
}

class Reader {
  readonly #findings: Finding[] = [];

  constructor(
    readonly yaml: YamlFile,
    readonly file: string,
  ) {}

  read(): YamlCatalog {
    const top = this.#object([], "", this.yaml.data ?? {}, "advertisers, by key") ?? {};
    this.#refuseUnknown([], "", top, TOP);
    const advertisers: WrittenAdvertiser[] = [];
    const events: WrittenEvent[] = [];
    for (const [name, value] of this.#entries(["advertisers"], "advertisers", top.advertisers)) {
      const path = ["advertisers", name];
      const key = keyOf(name);
      const given = this.#object(path, key, value, "an object with advertiserName and events");
      if (given === undefined) continue;
      const { defaults, events: own, ...fields } = given;
      advertisers.push({
        ...this.#written(path, key, fields),
        key,
        defaults: this.#fields([...path, "defaults"], `${key} defaults`, defaults),
      });
      for (const [eventName, event] of this.#entries([...path, "events"], key, own)) {
        const eventPath = [...path, "events", eventName];
        const subject = `${key}/${keyOf(eventName)}`;
        const content = this.#object(eventPath, subject, event, "an object with eventName and value");
        if (content !== undefined)
          events.push({ ...this.#written(eventPath, subject, content), key: keyOf(eventName), advertiser: key });
      }
    }
    const rules = this.#object(["rules"], "rules", top.rules ?? {}, "errors and warnings") ?? {};
    this.#refuseUnknown(["rules"], "rules", rules, ["errors", "warnings"]);
    const { eventsFile } = top;
    const source = this.yaml.sourceOf(["eventsFile"]);
    if (eventsFile !== undefined && typeof eventsFile !== "string")
      this.#findings.push(errorAt(source, "", `eventsFile expected the path of a CSV file; got ${show(eventsFile)}`));
    return {
      file: this.file,
      defaults: this.#fields(["defaults"], "defaults", top.defaults),
      rules: {
        errors: this.#fields(["rules", "errors"], "rules.errors", rules.errors),
        warnings: this.#fields(["rules", "warnings"], "rules.warnings", rules.warnings),
      },
      advertisers: top.advertisers === undefined ? undefined : advertisers,
      events,
      eventsFile: typeof eventsFile === "string" ? { path: eventsFile, source } : undefined,
      findings: this.#findings,
    };
  }

  #fields(path: Path, subject: string, value: unknown): Written | undefined {
    const given = value === undefined || value === null ? undefined : this.#object(path, subject, value, "an object");
    return given === undefined ? undefined : this.#written(path, subject, given);
  }

  #written(path: Path, subject: string, given: Values): Written {
    const converted = Object.entries(given).map(([name, value]) => [name, fieldNamed(name)?.fromData(value) ?? value]);
    return {
      subject,
      given: Object.fromEntries(converted),
      sourceOf: (property, part) =>
        property === undefined || property === "key"
          ? this.yaml.sourceOf(path, "name")
          : this.yaml.sourceOf([...path, property], part),
    };
  }

  #entries(path: Path, subject: string, value: unknown): [string, unknown][] {
    if (value === undefined || value === null) return [];
    return Object.entries(this.#object(path, subject, value, `${path.at(-1)} by key`) ?? {});
  }

  #object(path: Path, subject: string, value: unknown, expected: string): Values | undefined {
    if (isContainer(value) && !Array.isArray(value)) return value as Values;
    const source = this.yaml.sourceOf(path);
    this.#findings.push(errorAt(source, subject, `expected ${expected}; got ${show(value)}`));
    return undefined;
  }

  #refuseUnknown(path: Path, subject: string, given: Values, known: readonly string[]): void {
    for (const name of Object.keys(given).filter((each) => !known.includes(each))) {
      const source = this.yaml.sourceOf([...path, name], "name");
      this.#findings.push(errorAt(source, subject, `${show(name)} is not known; ${didYouMean(name, known)}`));
    }
  }
}
