/**
 * Published as `pulumi-advertising/testing`: users' unit tests run their programs without engine, network or settings,
 * with the real rules. The class `MockPlatform` takes the place of provider and platform: the mocks call it for each
 * resource.
 */
import * as pulumi from "@pulumi/pulumi";
import type { MockResourceArgs } from "@pulumi/pulumi/runtime/mocks.js";
import { isRpcSecret, unwrapRpcSecret } from "@pulumi/pulumi/runtime/rpc.js";
import { asRecord, mapValues, type Values } from "../base/index.js";
import { checkArguments, resourceOfType } from "../kinds/index.js";
import type { ResourceName } from "../kinds/vocabulary.js";
import { currentProgram, type Finding, programError } from "../program/index.js";
import { exactId, problemMessages } from "../rules/index.js";
import { labelOf, readDeclaredSet, UNKNOWN } from "../state/index.js";

/** The options of {@link setMocks}. */
export interface MockOptions {
  /** The return value of `pulumi.getProject()`. @default "project" */
  project?: string;
  /** The return value of `pulumi.getStack()`. @default "stack" */
  stack?: string;
  /** The organization that `pulumi.getOrganization()` returns. @default none: Pulumi then throws an error */
  organization?: string;
  /** Whether this is a preview, as `pulumi.runtime.isDryRun()` returns it. Resources have ids in any case. @default false */
  preview?: boolean;
  /**
   * Mocks for the resources and functions of other packages, as `pulumi.runtime.setMocks` takes them.
   * @default a resource's id is its name, and its outputs are its inputs; a function returns its arguments
   */
  others?: pulumi.runtime.Mocks;
}

/** The result of {@link setMocks}. */
export interface Mocks {
  /**
   * The resources of this package that the program has declared, in the order of their registration. Waits for
   * registrations that are under way.
   * @throws pulumi.RunError if values from Outputs were wrong; it lists all of them.
   */
  resources(): Promise<readonly DeclaredResource[]>;
}

/**
 * Sets mocks for `pulumi.runtime`. The program that is loaded or written next then runs without engine and network.
 * Call it before each test: each call begins a new program.
 *
 * The real rules apply. If arguments are wrong, the resource's constructor throws an error that lists all problems of the
 * resource and has the code `ADVERTISING_ARGUMENTS` in its message. If a value from an Output is wrong, {@link outputOf}
 * and `resources()` throw, or the next `setMocks()` if neither was called.
 *
 * Ids count from 1; a resource with `existingId` keeps it. No setting is required. Settings that the rules depend on, such
 * as `advertising:maxWindowSeconds`, come from the configuration (`pulumi.runtime.setAllConfig`), and never from
 * environment variables.
 *
 * @example
 * beforeEach(() => setMocks());
 * it("looks back for a week", async () => {
 *     const { purchase } = await import("./program.js");
 *     expect(await outputOf(purchase.clickWindow)).toBe(604_800);
 * });
 */
export async function setMocks(options: MockOptions = {}): Promise<Mocks> {
  const { project, stack, preview, organization, others } = options;
  // Registrations that are still under way belong to the earlier test's program.
  await waitForRPCs();
  const earlier = current;
  const platform = new MockPlatform();
  current = platform;
  if (!earlier.isReported) earlier.assertGood();
  const registered: DeclaredResource[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource(args) {
        const { name: id, inputs } = args;
        const resource = platform.register(args);
        if (!resource) return others?.newResource(args) ?? { id, state: inputs };
        registered.push(resource);
        const state = mapValues(resource.outputs, (value, property) =>
          isRpcSecret(inputs[property]) ? pulumi.secret(value) : value,
        );
        return { id: resource.id, state };
      },
      call: (args) => others?.call(args) ?? args.inputs,
    },
    project,
    stack,
    preview,
    organization,
  );
  return {
    async resources() {
      await waitForRPCs();
      platform.assertGood();
      return [...registered];
    },
  };
}

/**
 * The value of an Output, once it is known.
 * @throws pulumi.RunError if values from Outputs were wrong; it lists all of them.
 */
export async function outputOf<T>(output: pulumi.Input<T>): Promise<pulumi.Unwrap<T>> {
  // Outputs have `promise`, but their type doesn't name it. With `apply`, a rejected Output would be waited for forever.
  type Resolving = { promise(): Promise<pulumi.Unwrap<T>> };
  const value = await (pulumi.output(output) as unknown as Resolving).promise();
  current.assertGood();
  return value;
}

/** Pulumi's runtime exports `waitForRPCs`, but its types don't name it. */
const { waitForRPCs } = pulumi.runtime as unknown as { waitForRPCs(): Promise<void> };

export interface DeclaredResource {
  readonly type: ResourceName;
  readonly name: string;
  readonly id: string;
  /** The resource's outputs: the arguments with their defaults, and the ids. */
  readonly outputs: Values;
}

class MockPlatform {
  readonly #findings: Finding[] = [];
  #ids = 0;
  /** Whether the test has seen the findings. */
  isReported = false;

  /**
   * Checks a resource's arguments against its rules, now with the values of Outputs. If a mock threw an error, Pulumi
   * would turn it into an unhandled rejection. So problems are kept for {@link assertGood}.
   * @returns `undefined` for a resource of another package.
   */
  register({ type, name, inputs, id: read }: MockResourceArgs) {
    const kind = resourceOfType(type);
    if (!kind) return undefined;
    const declared = { type: kind.name, name };
    let outputs: Values = {};
    if (!read) {
      const checked = checkArguments(
        kind,
        mapValues(asRecord(inputs), unwrapRpcSecret),
        currentProgram().reading.settings,
        { isUnknown: (value) => value === UNKNOWN, isFromOutputs: true },
      );
      outputs = checked.values;
      if (checked.problems.length > 0)
        this.#findings.push({
          title: labelOf(kind.name, name),
          lines: problemMessages(checked.problems),
        });
    }
    if (!("member" in kind)) {
      const id = read || this.#idOf(outputs);
      return { ...declared, id, outputs: { ...outputs, [kind.idProperty]: exactId(id) } };
    }
    const events = Object.fromEntries(readDeclaredSet(outputs).events ?? []);
    const eventIds = mapValues(events, (entry) => exactId(this.#idOf(asRecord(entry))));
    return {
      ...declared,
      id: `set-${name}`,
      outputs: { ...outputs, events, eventIds },
    };
  }

  /** @throws pulumi.RunError that lists all problems of the resources so far. */
  assertGood() {
    if (this.#findings.length === 0) return;
    this.isReported = true;
    throw programError(currentProgram().reading, this.#findings, "`pulumi up` would fail.");
  }

  #idOf({ existingId }: Values) {
    if (existingId !== undefined) return String(existingId);
    this.#ids += 1;
    return String(this.#ids);
  }
}

/** The platform of the program under test; each `setMocks` makes a new one. */
let current = new MockPlatform();
