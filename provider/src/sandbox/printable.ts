/**
 * Text from requests on its way to a terminal.
 */

/** Control and direction characters could make a terminal show something else than was sent: each run becomes a space. */
export function printable(text: string, most: number): string {
  const plain = text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return plain.length <= most ? plain : `${plain.slice(0, most - 1).toWellFormed()}…`;
}
