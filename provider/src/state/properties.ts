/**
 * Stored properties that are no arguments: contracts with every state that was ever written. The engine hides names
 * that begin with two underscores from previews.
 */

/** The reference that the engine's dynamic-provider process loads; written by `resources/`. */
export const PROVIDER = "__provider";

/** Which resource of which stack this is, so that a create can be told apart from all others; an input only. */
export const IDENTITY = "__identity";

/**
 * At which installation, with which account: an output of what this version creates, an input of what earlier versions
 * created, which takes on the current one once.
 */
export const ACCOUNT = "__at";

/** The names of arguments whose values are secret, where there are any; an input only. */
export const SECRET_ARGUMENTS = "__secret";

/** What a create can be searched for by, as `<field> <mark>`: an input only, so that the engine's record of a killed run holds it. */
export const MARK = "__mark";

/**
 * That the option `retainOnDelete` is off where a delete is known: an input only, since the engine deletes by the option that
 * its state holds.
 */
export const DELETES = "__delete";

/** Beside the properties of a resource whose create has an unknown outcome: see `state/unresolved.ts`. */
export const UNRESOLVED = "unresolved";

/** The text that stands for a value that is not known yet in a preview (measured with engine 3.259.0). */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** By which Pulumi marks secret values in an exported stack: a contract of its own. */
export const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

/** What replacements have left live on the platform; an output only: see `state/left-live.ts`. */
export const LEFT_LIVE = "__left";
