import { numbers } from '../servers/people.ts'
import { random } from './corpus.ts'
import type { Searchable } from './seed.ts'

/** A search of a kind, as its parameters. */
export interface Asked {
  kind: string
  q: string
  in?: string
}

/**
 * Words of every kind, two words, a phrase of a message, two Chinese characters and a beginning; in all conversations, and
 * in one.
 *
 * @param each the searches of each kind, with and without `in`
 */
export function searchesOf({ corpus, places }: Pick<Searchable, 'corpus' | 'places'>, each: number): Asked[] {
  const next = random(7)
  const word = (from: number, to: number) => corpus.word(from + Math.floor(next() * (to - from)))
  /** Every fifth word is Chinese. */
  const chinese = () => {
    for (;;) {
      const found = corpus.word(5 * Math.floor(next() * 400) + 4)
      if (found.length === 2) return found
    }
  }
  const kinds: Record<string, () => string> = {
    frequent: () => word(0, 20),
    medium: () => word(500, 1_500),
    rare: () => word(50_000, 100_000),
    two: () => `${word(0, 50)} ${word(100, 1_000)}`,
    phrase: () => `"${corpus.message().text.split(' ').slice(0, 2).join(' ')}"`,
    chinese,
    beginning: () => `${corpus.word(5 * Math.floor(100 + next() * 500)).slice(0, 3)}*`,
  }
  return numbers(each).flatMap((n) =>
    Object.entries(kinds).flatMap(([kind, make]) => {
      const q = make()
      return [
        { kind, q },
        { kind: `${kind} in one`, q, in: places[n % places.length]!.conversation_id },
      ]
    }),
  )
}
