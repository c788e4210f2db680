/** Values as the provider process sends them to the engine. Fails on `undefined` at any depth, as the engine does. */
export function carriedBack(values: object | undefined): Record<string, unknown> {
  return JSON.parse(JSON.stringify(values ?? {}, sendable)) as Record<string, unknown>;
}

function sendable(name: string, value: unknown): unknown {
  if (value === undefined) throw new Error(`Unexpected struct type: ${name}`);
  return value;
}
