import type { TimelineStoreMessage } from 'chat-server/client/store'

/** The place of an answer among the answers to one question. */
export interface VariantPlace {
  /** The first answer of the set. */
  first: string
  /** All that are not deleted, in the order of their arrival. */
  ids: readonly string[]
}

/** A variant that the user has chosen: until another one arrives, which is shown then. */
export interface Choice {
  id: string
  /** The newest one of the set. */
  newest: string | undefined
}

/** What is chosen, by the id of the first answer of the set. */
export type Choices = ReadonlyMap<string, Choice>

const NO_PLACES: ReadonlyMap<string, VariantPlace> = new Map()

/**
 * The messages of a stream with one of the variants of each answer, in the place of the first one, and what follows it: not
 * what follows another one. A variant whose first one is not in the stream stands for itself.
 *
 * @param choices without one, the newest of a set is shown
 * @returns the messages; and by the id of each variant that is shown, its place
 */
export function variantsOf<Message extends TimelineStoreMessage>(
  messages: readonly Message[],
  choices: Choices,
): { shown: readonly Message[]; places: ReadonlyMap<string, VariantPlace> } {
  if (messages.every(({ variant_of }) => variant_of === undefined)) return { shown: messages, places: NO_PLACES }
  const here = new Map(messages.map((message) => [message.id, message]))
  // A post that is not stored yet may name another one of the set.
  const firstOf = ({ id, variant_of = id }: Message) => here.get(variant_of)?.variant_of ?? variant_of
  const sets = new Map<string, Message[]>()
  for (const message of messages) {
    const first = firstOf(message)
    const set = sets.get(first)
    if (set) set.push(message)
    else if (here.has(first)) sets.set(first, [message])
  }
  const places = new Map<string, VariantPlace>()
  const inPlaceOf = new Map<string, Message>()
  const hidden = new Set<string>()
  for (const [first, set] of sets) {
    if (set.length < 2) continue
    const live = set.filter(({ deleted_at }) => !deleted_at)
    const newest = live.at(-1)
    const choice = choices.get(first)
    const chosen = choice?.newest === newest?.id ? live.find(({ id }) => id === choice?.id) : undefined
    const one = chosen ?? newest ?? set[0]!
    for (const { id } of set) if (id !== one.id) hidden.add(id)
    inPlaceOf.set(first, one)
    if (live.length > 1) places.set(one.id, { first, ids: live.map(({ id }) => id) })
  }
  const shown: Message[] = []
  for (const message of messages) {
    const { id, parent_id = '' } = message
    const first = firstOf(message)
    // Its parent arrived before it.
    if (hidden.has(parent_id)) hidden.add(id)
    else if (!inPlaceOf.has(first)) shown.push(message)
    else if (id === first) shown.push(inPlaceOf.get(first)!)
  }
  return { shown, places }
}

/** The choices that bring a message into view, which is in the list. */
export function choicesFor(messages: readonly TimelineStoreMessage[], message_id: string): [string, Choice][] {
  const here = new Map(messages.map((message) => [message.id, message]))
  const choices: [string, Choice][] = []
  for (let at = here.get(message_id); at; at = here.get(at.parent_id ?? '')) {
    const first = at.variant_of ?? at.id
    const newest = messages.findLast(({ id, variant_of = id, deleted_at }) => variant_of === first && !deleted_at)
    if (newest) choices.push([first, { id: at.id, newest: newest.id }])
  }
  return choices
}
