/**
 * Commands that are typed at a running sandbox, or written into a pipe that is its standard input.
 */
import { execFileSync } from "node:child_process";
import { fstatSync, readFileSync } from "node:fs";
import { createInterface, type Interface } from "node:readline";
import { isatty } from "node:tty";

/**
 * Hands each line of standard input on, where that is a terminal or a pipe. That it ends means nothing: a sandbox also
 * runs in the background and in pipelines.
 * @returns whether lines are read now.
 */
export function readTypedCommands(onLine: (line: string) => void): boolean {
  const isTerminal = isatty(0);
  if (!isTerminal && !isPipe()) return false;
  let reader: Interface | undefined;
  const follow = (): boolean => {
    if (isTerminal && !isInForeground()) {
      reader?.pause();
      return false;
    }
    if (reader !== undefined) {
      reader.resume();
      return true;
    }
    process.stdin.on("error", () => undefined); // the terminal was closed: no more commands from there
    reader = createInterface({ input: process.stdin, terminal: false }).on("line", onLine);
    reader.once("close", () => process.off("SIGCONT", follow));
    return true;
  };
  // With this signal a shell's `bg` and `fg` go on after Ctrl-Z. A job that was running gets none from `fg`, and takes no
  // commands here until it was stopped once: better than to be stopped by the system.
  process.on("SIGCONT", follow);
  return follow();
}

function isPipe(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false; // no standard input at all
  }
}

/** The system stops a process in the background (SIGTTIN) that reads from its terminal, and with that its server. */
function isInForeground(): boolean {
  try {
    return process.platform === "linux"
      ? isForegroundStat(readFileSync("/proc/self/stat", "utf8"))
      : process.platform === "win32" ||
          isForegroundPs(execFileSync("ps", ["-o", "pgid=,tpgid=", "-p", `${process.pid}`]));
  } catch {
    return true; // where it can't be known, the usual case
  }
}

/** @param stat `pid (name) state ppid pgrp session tty_nr tpgid …`, as proc(5) has it; the name may hold anything. */
export function isForegroundStat(stat: string): boolean {
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return group === foreground;
}

function isForegroundPs(output: Buffer): boolean {
  const [group, foreground] = output.toString().trim().split(/\s+/);
  return group === foreground;
}
