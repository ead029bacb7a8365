/** How far a line is read. A tab reaches to the next column of four, so a part of it may be read. */
export interface Line {
  readonly text: string
  /** From the first line on. */
  readonly number: number
  offset: number
  column: number
  /** How many columns of the tab at `offset` are left, if a part of it is read. */
  tabRest: number
}

export const CODE_INDENT = 4

export function startLine(text: string, number: number): Line {
  return { text, number, offset: 0, column: 0, tabRest: 0 }
}

/** Where the next letter is that is no space, and how many columns away. */
export function nextLetter({ text, offset, column, tabRest }: Line): { at: number; indent: number } {
  let at = offset
  let reached = column
  if (tabRest > 0) {
    reached += tabRest
    at++
  }
  for (; text[at] === ' ' || text[at] === '\t'; at++) reached += text[at] === '\t' ? 4 - (reached % 4) : 1
  return { at, indent: reached - column }
}

export function isBlank(line: Line): boolean {
  return nextLetter(line).at >= line.text.length
}

/** Reads on by letters. */
export function skipLetters(line: Line, count: number): void {
  for (let left = count; left > 0 && line.offset < line.text.length; left--) {
    line.column += line.tabRest > 0 ? line.tabRest : line.text[line.offset] === '\t' ? 4 - (line.column % 4) : 1
    line.tabRest = 0
    line.offset++
  }
}

/** Reads on by columns of spaces. */
export function skipColumns(line: Line, count: number): void {
  for (let left = count; left > 0 && isSpace(line.text[line.offset]); ) {
    const width = line.tabRest > 0 ? line.tabRest : line.text[line.offset] === '\t' ? 4 - (line.column % 4) : 1
    const step = Math.min(width, left)
    line.column += step
    left -= step
    line.tabRest = width - step
    if (line.tabRest === 0) line.offset++
  }
}

export function skipSpaces(line: Line): void {
  skipColumns(line, nextLetter(line).indent)
}

export function isSpace(letter: string | undefined): boolean {
  return letter === ' ' || letter === '\t'
}

/** What is not read yet, with spaces for the rest of a tab. */
export function restOf({ text, offset, tabRest }: Line): string {
  return tabRest > 0 ? ' '.repeat(tabRest) + text.slice(offset + 1) : text.slice(offset)
}
