/**
 * The front door of `testing/`, which is published as `pulumi-advertising/testing`: users' own unit tests run their programs here
 * without engine, network or settings, with the real rules. It may import every room but `client`, `provider` and `store`.
 */
import * as pulumi from "@pulumi/pulumi";
import { isRpcSecret } from "@pulumi/pulumi/runtime/rpc.js";
import { currentReading } from "../program/index.js";
import { type DeclaredResource, Platform } from "./platform.js";

export type { DeclaredResource } from "./platform.js";

/** How the program under test is run. */
export interface MockOptions {
  /** What `pulumi.getProject()` tells. @default "project" */
  project?: string;
  /** What `pulumi.getStack()` tells. @default "stack" */
  stack?: string;
  /** What `pulumi.getOrganization()` tells. @default none, at which Pulumi throws */
  organization?: string;
  /** Whether `pulumi.runtime.isDryRun()` tells of a preview. Ids are handed out all the same. @default false */
  preview?: boolean;
  /**
   * Mocks for the resources and functions of other packages, as `pulumi.runtime.setMocks` takes them.
   * @default resources have their name as id and their inputs as outputs; functions answer with their arguments
   */
  others?: pulumi.runtime.Mocks;
}

/** What the mocks know of the program under test. */
export interface Mocks {
  /**
   * The resources of this package that the program has declared, in the order in which they were registered; waits for those
   * that are under way.
   * @throws pulumi.RunError where values that Outputs brought were wrong: it lists all of them.
   */
  resources(): Promise<readonly DeclaredResource[]>;
}

/**
 * Sets mocks for `pulumi.runtime`, so that the program that is loaded or written next runs without engine and network. Call it
 * before each test: each call begins a new program.
 *
 * The real rules hold. A wrong argument is thrown by the resource's constructor, as an error with the code
 * `ADVERTISING_ARGUMENTS` in its message that lists all that is wrong with the resource. A wrong value that only an Output
 * brings is thrown by {@link outputOf} and `resources()`, or by the next `setMocks()` where nobody has asked.
 *
 * Ids are numbers from 1, each given once; what has an `existingId` keeps it. No setting is required. Those that the rules depend on,
 * such as `advertising:maxWindowSeconds`, are read from the configuration (`pulumi.runtime.setAllConfig`), and never from environment
 * variables.
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
  // Registrations that an earlier test has left under way belong to that test's program.
  await waitForRPCs();
  const earlier = current;
  const platform = new Platform(currentReading);
  current = platform;
  earlier?.expectTold();
  const registered: DeclaredResource[] = [];
  await pulumi.runtime.setMocks(
    {
      newResource(args) {
        const resource = platform.register(args);
        if (resource === undefined) return others?.newResource(args) ?? { id: args.name, state: args.inputs };
        registered.push(resource);
        const secret = Object.keys(args.inputs).filter((name) => isRpcSecret(args.inputs[name]));
        const state: Record<string, unknown> = { ...resource.outputs };
        for (const name of secret) state[name] = pulumi.secret(state[name]);
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
      platform.expectGood();
      return [...registered];
    },
  };
}

/**
 * The value of an Output, once it is known.
 * @throws pulumi.RunError where values that Outputs brought were wrong: it lists all of them.
 */
export async function outputOf<T>(output: pulumi.Input<T>): Promise<pulumi.Unwrap<T>> {
  // Outputs have this method, but their type does not name it; `apply` alone would wait for ever for what was rejected.
  const value = await (pulumi.output(output) as unknown as { promise(): Promise<pulumi.Unwrap<T>> }).promise();
  current?.expectGood();
  return value;
}

/** The one of the program under test; each `setMocks` begins another. */
let current: Platform | undefined;

/** Pulumi's runtime exports it, but its types do not name it. */
const { waitForRPCs } = pulumi.runtime as unknown as { waitForRPCs(): Promise<void> };
