/** The characters of the first message of a thread that the thread's summary has. */
export const EXCERPT_LENGTH = 140

/** The first characters of a text, as the databases count them: a character beyond the BMP is one. */
export function firstCharacters(text: string): string {
  return [...text.slice(0, 2 * EXCERPT_LENGTH)].slice(0, EXCERPT_LENGTH).join('')
}

/**
 * What the summary of a thread says of its first message.
 *
 * @param files the list of files of a message without a text, as JSON: then their names
 */
export function excerptOf(firstCharacters: string, files: string | null): string {
  if (firstCharacters !== '') return firstCharacters
  const listed = JSON.parse(files ?? '[]') as { name: string }[]
  const names = listed.map(({ name }) => name).join(', ')
  return names.slice(0, EXCERPT_LENGTH)
}
