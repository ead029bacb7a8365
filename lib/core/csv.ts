/** What a spreadsheet may take for the begin of a formula, also after spaces and in its full width. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u

/** What makes a cell end too early. */
const SPECIAL = /[",\r\n]/

/**
 * A line of CSV (RFC 4180), with its line break. A text that is like a formula begins with an apostrophe, by which a spreadsheet
 * shows it as it is.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => (typeof cell === 'number' ? String(cell) : toCell(cell))).join(',')}\r\n`
}

function toCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
