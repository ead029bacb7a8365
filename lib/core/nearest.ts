/** `, did you mean "<name>"?` with the name closest to a mistyped one; '' if none is close. */
export function didYouMean(typed: string, names: readonly string[]): string {
  if (typed.length > 100) return ''
  const [nearest] = names
    .map((name) => ({ name, far: distance(typed, name) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.min(typed.length, name.length) / 3))
    .sort((a, b) => a.far - b.far)
  return nearest ? `, did you mean "${nearest.name}"?` : ''
}

/** The number of letters to insert, delete or replace (Levenshtein). */
export function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      next.push(Math.min(row[j]! + Number(letter !== to[j]), row[j + 1]! + 1, next[j]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
