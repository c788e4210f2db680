/** Whether this Node.js fits: npm only warns of another one, which then fails at whatever it lacks. Pure. */

/**
 * @param running such as `22.19.0`. @param wanted the `engines` of package.json, as `>=22.19.0`.
 * @returns in words, why not.
 */
export function whyTooOld(running: string, wanted: string): string | undefined {
  const needed = wanted.replace(/^>=/, "");
  const [[major = 0, minor = 0], [least = 0, leastMinor = 0]] = [partsOf(running), partsOf(needed)];
  if (major > least || (major === least && minor >= leastMinor)) return undefined;
  return `it needs Node.js ${needed} or later; this is ${running}. Install a newer one: https://nodejs.org/`;
}

function partsOf(version: string): number[] {
  return version.split(".").map(Number);
}
