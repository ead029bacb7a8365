/** How many conversations are offered at once. */
const MAX_CHOICES = 8

/**
 * Those with every word of the query in their name, whatever its accents and case: first those that begin with it, then
 * those with a word that does; in the given order otherwise. All of them without a query.
 */
export function matching<Item>(items: readonly Item[], query: string, nameOf: (item: Item) => string): Item[] {
  const wanted = plain(query)
  const words = wanted.split(/\s+/).filter((word) => word !== '')
  const ranks: Item[][] = [[], [], []]
  for (const item of items) {
    const name = plain(nameOf(item))
    if (!words.every((word) => name.includes(word))) continue
    const rank = name.startsWith(wanted) ? 0 : name.split(/[\s._-]+/).some((part) => part.startsWith(words[0]!)) ? 1 : 2
    ranks[rank]!.push(item)
  }
  return ranks.flat().slice(0, MAX_CHOICES)
}

/** Whether each word of the query begins a word of the name, whatever its accents and case: as the service finds people. */
export function hasWords(name: string, query: string): boolean {
  const parts = wordsOf(name)
  return wordsOf(query).every((word) => parts.some((part) => part.startsWith(word)))
}

/** The words of a name, without accents and case. */
export function wordsOf(text: string): string[] {
  return plain(text)
    .split(/[\s._@-]+/)
    .filter((word) => word !== '')
}

/** A text without accents and case, by which it is found. */
export function plain(text: string): string {
  return text.trim().normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}
