/** What the provider returns, as its process sends it to the engine, which fails on `undefined` at any depth. */
export function carriedBack(values: object | undefined): Record<string, unknown> {
  return JSON.parse(JSON.stringify(values ?? {}, sendable)) as Record<string, unknown>;
}

function sendable(name: string, value: unknown): unknown {
  if (value === undefined) throw new Error(`Unexpected struct type: ${name}`);
  return value;
}
