import { distance } from '../../lib/config/reference.ts'

/** `, did you mean "<name>"?` with the name closest to a mistyped one; '' if none is close. */
export function didYouMean(typed: string, names: string[]): string {
  if (typed.length > 100) return ''
  const [nearest] = names
    .map((name) => ({ name, far: distance(typed, name) }))
    .filter(({ name, far }) => far <= Math.max(1, Math.min(typed.length, name.length) / 3))
    .toSorted((a, b) => a.far - b.far)
  return nearest ? `, did you mean "${nearest.name}"?` : ''
}
