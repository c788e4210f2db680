/**
 * What is the same in everything that the engine calls, of whatever resource.
 */
import type * as dynamic from "@pulumi/pulumi/dynamic";
import { type Secrets, withCode } from "../base/index.js";
import type { Runtime } from "./runtime.js";

/** Runs what the engine asked for; whatever fails leaves scrubbed and without a stack. */
export function guard(runtime: () => Runtime) {
  return async <T>(work: () => T | Promise<T>, asError: (error: unknown, secrets: Secrets) => Error): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      runtime().run.hasFailed = true;
      throw asError(error, runtime().secrets);
    }
  };
}

/**
 * A problem as the engine shows it at the resource: it prints each one after "resource '<name>' has a problem: ". Without the
 * property's name: the engine would print the value in front of the reason, a secret one too.
 */
export function checkFailure(text: string, { code }: { readonly code: string }): dynamic.CheckFailure {
  return { property: "", reason: withCode(text, code) };
}
