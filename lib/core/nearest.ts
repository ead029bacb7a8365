/** `, did you mean "<name>"?` with the name closest to a mistyped one; '' if none is close. */
export function didYouMean(typed: string, names: readonly string[]): string {
  if (typed.length > 100) return ''
  const given = bare(typed)
  const [nearest] = names
    .map((name) => ({ name, letters: bare(name) }))
    .map(({ name, letters }) => ({ name, letters, far: distance(given, letters) }))
    .filter(({ letters, far }) => far <= Math.max(1, Math.min(given.length, letters.length) / 3))
    .sort((a, b) => a.far - b.far)
  return nearest ? `, did you mean "${nearest.name}"?` : ''
}

/** Without case and what joins words: `lastEventId` is meant for `last_event_id`. */
const bare = (name: string) => name.toLowerCase().replace(/[_-]/g, '')

/** The number of letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
export function distance(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const swapped = from[i] === to[j - 1] && from[i - 1] === to[j] ? before[j - 1]! + 1 : Infinity
      next.push(Math.min(row[j]! + Number(from[i] !== to[j]), row[j + 1]! + 1, next[j]! + 1, swapped))
    }
    before = row
    row = next
  }
  return row[to.length]!
}
