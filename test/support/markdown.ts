/** Wraps a paragraph at 120 characters; longer words are not broken. */
export function wrap(text: string, indent = ''): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= 120) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(lines.length > 0 ? indent + word : word)
  }
  return lines.join('\n')
}
