/** The first version number in a text (`v3.259.0`, `go1.26`, `>=22.19.0`) as [major, minor, patch]; undefined without one. */
export function readVersion(text) {
  const found = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text ?? "");
  return found ? [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)] : undefined;
}

/** Whether `version` is `floor` or later. Both as `readVersion` gives them; an unknown version is never enough. */
export function isAtLeast(version, floor) {
  if (!version) return false;
  const differing = version.findIndex((part, index) => part !== floor[index]);
  return differing === -1 || version[differing] > floor[differing];
}
