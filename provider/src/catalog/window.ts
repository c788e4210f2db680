/** Windows as people write them: `7d`, `12 hours`, `90min`, `2 weeks`, or seconds. */

const SECONDS: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600, d: 86_400, w: 604_800 };

/** A number and a unit; `m` alone could be minutes or months, so it is none. */
export const WINDOW_TEXT =
  /^(\d{1,9}(?:\.\d{1,6})?) ?(s|sec|secs|second|seconds|min|mins|minute|minutes|h|hour|hours|d|day|days|w|week|weeks)$/;

/** @returns whole seconds; `text` itself where it is no window. */
export function secondsIn(text: string): number | string {
  const [, amount = "", unit = ""] = WINDOW_TEXT.exec(text) ?? [];
  const length = SECONDS[unit.startsWith("min") ? "min" : unit.charAt(0)];
  const seconds = Number(amount) * (length ?? Number.NaN);
  const whole = Math.round(seconds);
  return Math.abs(seconds - whole) < 1e-6 ? whole : text;
}
