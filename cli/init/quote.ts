/** A word of a command for a shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A path in a unit of systemd, whose specifiers and quotes it must not hold. */
export function unitPath(text: string): string {
  const literal = text.replaceAll('%', '%%')
  return /[\s"'\\;]/.test(literal) ? `"${literal.replaceAll(/["\\]/g, '\\$&')}"` : literal
}

/** A command in a unit. In all its words but the path of the program, a dollar sign names a variable. */
export function execLine([program, ...words]: string[]): string {
  return [unitPath(program!), ...words.map((word) => unitPath(word).replaceAll('$', '$$$$'))].join(' ')
}
