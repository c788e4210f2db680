/** The texts of `pending`: what is unresolved, what the next run takes over, and what answers have led to. */
import { COMMAND, count, inStack, joined } from "../base/index.js";
import { kindsByName, resourceOfType } from "../kinds/index.js";
import {
  commandName,
  describe,
  HIDDEN_EVENTS,
  isOfHiddenEvents,
  optionsOf,
  pendingLine,
  resolveCommands,
  staysLive,
} from "../state/index.js";
import { type Answer, managerOf } from "./pending-answers.js";
import type { Create, StackCreates } from "./stack-creates.js";

/** The creates in Pulumi's record. */
export function interruptedCreates({ saved: { pending } }: StackCreates) {
  return pending.filter(({ type }) => type === "creating");
}

/** The URNs of the creates in Pulumi's record that the state doesn't account for, or that aren't of this package. */
export function unaccounted(creates: StackCreates) {
  const ours = [...creates.open, ...creates.created].map(({ ref }) => ref.urn);
  const foreign = interruptedCreates(creates)
    .filter(({ resource }) => !resourceOfType(resource.type))
    .map(({ resource }) => resource.urn);
  return [...foreign, ...ours];
}

export function resolvedMessage(answer: Answer, before: StackCreates, after: StackCreates) {
  const { create, id, isForgotten } = answer;
  const { shownName, key, kind } = create.ref;
  if (isForgotten)
    return `Forgotten: ${shownName} (id ${create.record.id ?? "unknown"}). Nothing changes on the platform.`;
  if (id === "") return `Resolved as not created: ${shownName}`;
  let text = `Resolved as created with id ${id}: ${shownName}`;
  const [old, now] = [before, after].map(({ saved }) => saved.byKey.get(key)?.id);
  if (old && now === id && after.saved.allWith(kind, old).length === 0)
    text += `. ${staysLive(kindsByName[kind], `The old object ${old}`)}`;
  return joined(". It is managed as ", text, managerOf(answer, before)?.ref.shownName);
}

export function listing(creates: StackCreates) {
  const { created } = creates;
  const taken = creates.open.filter(({ ref, record: { id, isDoubtful } }) => {
    return id !== undefined && isDoubtful && !isOfHiddenEvents(ref);
  });
  const open = creates.open.filter((each) => !taken.includes(each));
  const named = new Map(open.map(({ ref }) => [ref.urn, ref]));
  const lineFor = (create: Create) =>
    `  ${commandName(create.ref)}: ${whatIsKnown(create)}`;
  const lines = [];
  if (creates.open.length === 0) lines.push("No create is unresolved.");
  if (open.length > 0)
    lines.push(
      `${count(open.length, "create is", "creates are")} unresolved, and may or may not have reached the platform:`,
      ...open.map(lineFor),
      ...(named.size < open.length ? [SENT_BY_SEVERAL] : []),
      "If a run is in progress, these may be its creates: let it end first.",
      ...searchLines(open),
      ...resolveCommands([...named.values()]),
    );
  if (taken.length > 0)
    lines.push(
      "Created by earlier runs, and taken out of the state since, unless this machine's journal is another state's:",
      ...taken.map(lineFor),
      "To manage those of this stack again:",
      `  ${pendingLine(optionsOf("created", taken.map(idAnswer)))}`,
      DROP_OTHERS,
    );
  if (created.length > 0)
    lines.push(
      "Created by earlier runs, but not in the state yet:",
      ...created.map(lineFor),
      `The next \`${inStack("pulumi up")}\` takes over those that the program declares unchanged. ${DROP_OTHERS}`,
    );
  if (interruptedCreates(creates).length > 0 && unaccounted(creates).length === 0)
    lines.push(
      "Pulumi's record still lists creates of interrupted runs. Now clear it:",
      `  ${pendingLine(" --clear")}`,
    );
  return lines;
}

const SENT_BY_SEVERAL =
  "Several runs may have sent a create of one name. If you find several objects, give all their ids at once: the other creates count as not carried out.";

export const DROP_OTHERS = `\`${COMMAND} pending --help\` says how to drop those that the program no longer declares.`;

/** A create that was sent with a mark can be searched for, if a search is known. */
function searchLines(open: readonly Create[]) {
  if (open.every(({ record }) => record.field === undefined)) return [];
  return ["To search for those that have a mark:", `  ${pendingLine(" --search")}`];
}

function idAnswer({ ref, record }: Create) {
  return `${commandName(ref)}=${record.id}`;
}

function whatIsKnown({ ref, record }: Create) {
  if (isOfHiddenEvents(ref)) return HIDDEN_EVENTS;
  const named = record.account ? ` ${record.account}` : "";
  if (record.id === undefined)
    return `look in the account${named} for ${describe(ref.kind, record)}`;
  return `created as ${record.id}`;
}
