import type { Assistants } from '../../context.ts'
import { findNames, type NamePlace } from './rules-find.ts'

/** A place of a text that may ask an assistant, unless a participant has a name that ends there or later. */
export interface AskingPlace {
  key: string
  end: number
  /** The keys of the names that may stand there. */
  names: NamePlace['ends']
}

/** The places of a text with the key of an assistant, outside of code and quoted lines. */
export function placesAsking({ offered, inTexts }: Assistants, text: string): AskingPlace[] {
  if (!inTexts || offered.length === 0 || !text.includes('@')) return []
  return findNames(text).places.flatMap(({ ends, isExcluded }) => {
    const asked = isExcluded ? undefined : offered.find(({ key }) => ends.has(key))
    return asked ? [{ key: asked.key, end: ends.get(asked.key)!, names: ends }] : []
  })
}

/** The keys at places where no participant is meant, in their order, each once. */
export function keysAt(places: readonly AskingPlace[], isParticipant: (name: string) => boolean): string[] {
  const asking = places.filter(
    ({ end, names }) => ![...names].some(([name, nameEnd]) => nameEnd >= end && isParticipant(name)),
  )
  return [...new Set(asking.map(({ key }) => key))]
}
