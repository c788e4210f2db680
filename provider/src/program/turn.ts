/**
 * The resources that are looked at together: those of one turn of the program's event loop, which is all of the program but
 * for what comes after a wait for a timer, a file or the like.
 */
import * as pulumi from "@pulumi/pulumi";
import type { DeclaredHere } from "./declarations.js";
import { isEmbedded } from "./embedding.js";
import type { Program } from "./program.js";
import { programError, type Section, sectionOfOpen } from "./program-error.js";
import { undeclaredIn } from "./undeclared.js";

export interface Turn {
  /**
   * Tells what is wrong with one of its resources.
   * @throws pulumi.RunError in a user's unit test: a test catches what a constructor throws, and hears nothing of later errors.
   */
  report(section: Section): void;
  readonly declared: DeclaredHere[];
  /** Settles once all its resources were looked at: rejected where anything was wrong. */
  readonly admitted: Promise<Admission>;
}

/** What the whole turn tells each of its resources. */
export interface Admission {
  /** The first resource that it declares. */
  readonly first: DeclaredHere | undefined;
  /** How many resources it declares. */
  readonly resources: number;
  /** By journal key: what is no longer declared and may have got this new name. */
  readonly formerly: ReadonlyMap<string, readonly string[]>;
  /** By journal key: creates of unknown outcome that an adoption elsewhere settles. */
  readonly settled: ReadonlySet<string>;
}

const CONSEQUENCE = "nothing was registered and nothing was sent";

const current = new WeakMap<Program, Turn>();

/** @throws pulumi.RunError in a user's unit test whose settings are wrong. */
export function currentTurn(program: Program): Turn {
  if (program.isUnderTest && program.reading.problems.length > 0) throw programError(program.reading, [], CONSEQUENCE);
  const known = current.get(program);
  if (known !== undefined) return known;
  const turn = begin(program);
  current.set(program, turn);
  return turn;
}

function begin(program: Program): Turn {
  const sections: Section[] = [];
  const declared: DeclaredHere[] = [];
  const admitted = new Promise<Admission>((resolve, reject) => {
    // After the program's own turn, promises included: all its resources have been looked at by then.
    setImmediate(() => {
      current.delete(program);
      const { reading, comparison, history } = program;
      for (const warning of comparison.newWarnings()) void pulumi.log.warn(warning);
      const { open, formerly, settled } = undeclaredIn(history, program.declarations);
      const all = [...sections, ...open.filter(({ isAboutToBeSent }) => isAboutToBeSent).map(sectionOfOpen)];
      if (reading.problems.length === 0 && all.length === 0) {
        const own = declared.filter(({ isRead }) => !isRead);
        return resolve({ first: own[0], resources: own.length, formerly, settled });
      }
      const error = programError(reading, all, CONSEQUENCE);
      // Each resource's wait would last for ever in a process that goes on. One of the program's own ends with the error, and
      // there a rejection that Pulumi listens for only later is a warning of Node's.
      if (isEmbedded()) reject(error);
      throw error;
    });
  });
  admitted.catch(() => undefined); // each resource listens for itself
  const report = (section: Section) => {
    if (program.isUnderTest) throw programError(program.reading, [section], CONSEQUENCE);
    sections.push(section);
  };
  return { report, declared, admitted };
}
