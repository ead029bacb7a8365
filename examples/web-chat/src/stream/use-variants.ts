import type { TimelineStoreMessage } from 'chat-server/client/store'
import { useCallback, useMemo, useState } from 'preact/hooks'
import { type Choice, type Choices, choicesFor, type VariantPlace, variantsOf } from './variants.ts'

/** The messages of a stream with one of the variants of each answer, and functions that show others. */
export interface VariantsView {
  shown: readonly TimelineStoreMessage[]
  /** By the id of a variant that is shown, its place. */
  places: ReadonlyMap<string, VariantPlace>
  /** What is shown of other messages. */
  shownOf(messages: readonly TimelineStoreMessage[]): readonly TimelineStoreMessage[]
  /** @param first the first answer of the set */
  choose(first: string, choice: Choice): void
  /** Shows the variants by which a message is in view. @param messages those of the stream, with all variants */
  reveal(messages: readonly TimelineStoreMessage[], message_id: string): void
}

export function useVariants(messages: readonly TimelineStoreMessage[]): VariantsView {
  const [choices, setChoices] = useState<Choices>(new Map())
  const add = (more: [string, Choice][]) => setChoices((now) => new Map([...now, ...more]))
  return {
    ...useMemo(() => variantsOf(messages, choices), [messages, choices]),
    shownOf: (others) => variantsOf(others, choices).shown,
    choose: useCallback((first: string, choice: Choice) => add([[first, choice]]), []),
    reveal: useCallback(
      (all: readonly TimelineStoreMessage[], message_id: string) => add(choicesFor(all, message_id)),
      [],
    ),
  }
}
