/** Something the reader can mend: shown as its message alone, without a stack. Any other error is a defect of these scripts. */
export class Problem extends Error {
  constructor(message, { exitCode = 1, cause } = {}) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Runs a script's `main` and turns what it answers or throws into the exit code of this process. */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    if (error.message !== "") console.error(error instanceof Problem ? `\n${error.message}` : error);
    process.exitCode = error.exitCode ?? 1;
  }
}
