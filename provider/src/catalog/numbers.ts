/** What people and spreadsheets write for numbers, and how it is written here. */

/** What is wrong with a text that should be a number, where that is a known habit. Completes a sentence of its own. */
export function mistakeInNumber(text: string): string | undefined {
  const compact = text.trim();
  if (/%$/.test(compact)) return "write a plain number, without a percent sign";
  if (/^#(N\/A|REF!|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|#+)/i.test(compact))
    return "the spreadsheet could not work it out";
  if (/^[+-]?\d[.,]\d+E[+]?\d+$/i.test(compact))
    return "a spreadsheet has shortened it: format the column as text, and type the digits again";
  if (/^[+-]?\d+,\d{1,2}$|^[+-]?\d+,\d{4,}$|^[+-]?0,\d+$/.test(compact))
    return `write ${compact.replace(",", ".")}, with a decimal point`;
  if (/^[+-]?\d{1,3}([,.' \u00a0\u2009\u202f]\d{3})+([.,]\d+)?$/.test(compact))
    return "write it without a thousands separator, and with a decimal point";
  if (/\p{Sc}/u.test(compact)) return "write a plain number, without a currency";
  return undefined;
}
