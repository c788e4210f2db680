/** Both halves and the commands check the version of Node.js first: npm only warns of an old one, which fails later. Pure. */

/** As in `engines` of package.json. */
export const NEEDED_NODE = "22.19.0";

/**
 * @param running such as `22.19.0`.
 * @returns in words, why not.
 */
export function whyTooOld(running: string): string | undefined {
  const [[major = 0, minor = 0], [least = 0, leastMinor = 0]] = [partsOf(running), partsOf(NEEDED_NODE)];
  if (major > least || (major === least && minor >= leastMinor)) return undefined;
  return `it needs Node.js ${NEEDED_NODE} or later; this is ${running}. Install a newer one: https://nodejs.org/`;
}

function partsOf(version: string): number[] {
  return version.split(".").map(Number);
}
