import { composeTexts } from '../texts/compose.ts'
import { sizeText } from './size-text.ts'

/** What a message can take. */
interface Limits {
  max_bytes: number
  /** Whether those that are small enough are too many. */
  areTooMany: boolean
}

/** Why files were not taken. */
export function refusalOf(files: readonly File[], { max_bytes, areTooMany }: Limits): string {
  const { too_large, are_empty, too_many } = composeTexts.value.refusals
  const large = files.filter(({ size }) => size > max_bytes)
  const empty = files.filter(({ size }) => size === 0)
  const fitting = files.filter(({ size }) => size > 0 && size <= max_bytes)
  const refusals = [
    large.length > 0 && too_large(namesOf(large), large.length, sizeText(max_bytes)),
    empty.length > 0 && are_empty(namesOf(empty), empty.length),
    areTooMany && too_many(namesOf(fitting)),
  ]
  return refusals.filter(Boolean).join(' ')
}

/** The names of files, each set apart from what is around it, whatever its direction. */
function namesOf(files: readonly File[]): string {
  return files.map(({ name }) => `\u2068${name}\u2069`).join(', ')
}
