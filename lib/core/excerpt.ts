/** The characters of the first message of a thread that the thread's summary has. */
export const MAX_EXCERPT_LENGTH = 140

/** The characters of a quoted message that a quote has. */
export const MAX_QUOTE_LENGTH = 280

/** The first characters of a text, as the databases count them: a character beyond the BMP is one. */
export function firstCharacters(text: string, length = MAX_EXCERPT_LENGTH): string {
  // No more characters than units: most texts need no counting.
  if (text.length <= length) return text
  return [...text.slice(0, 2 * length)].slice(0, length).join('')
}

/** The excerpt of a message: the beginning of its text, or else the names of its files. */
export function toExcerpt(text = '', files: readonly { name: string }[] = [], length = MAX_EXCERPT_LENGTH): string {
  return firstCharacters(text || files.map(({ name }) => name).join(', '), length)
}

/**
 * The excerpt of the first message in the summary of a thread: its beginning, or else the names of its files.
 *
 * @param list the list of its files, as JSON
 */
export function toRootSummary(
  firstCharacters: string,
  list: string | null,
): { root_excerpt: string; root_file_count?: number } {
  const files = JSON.parse(list ?? '[]') as { name: string }[]
  const names = files.map(({ name }) => name).join(', ')
  return {
    root_excerpt: firstCharacters || names.slice(0, MAX_EXCERPT_LENGTH),
    ...(files.length > 0 && { root_file_count: files.length }),
  }
}
