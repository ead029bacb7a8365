import { type ReadonlySignal, signal } from '@preact/signals'
import type { Capabilities, ChatClient, Participant, Person as User } from 'chat-server/client'
import { texts } from '../texts/texts.ts'
import { type Assistants, createAssistants } from './assistants.ts'

/** How many participants are read at once, and how many at most: names of more people are seen when they write. */
const PAGE = 200
export const MAX_READ = 1_000

/** A person with names, and the photo. */
export type Person = Pick<Participant, 'user_id' | 'username' | 'display_name' | 'avatar_url'>

/** The names and photos of people that the page has met. */
export interface People {
  /** By the id of the user. */
  known: ReadonlySignal<ReadonlyMap<string, Person>>
  /** Reads the participants of a conversation. @param partner who may be no participant: an application @throws ChatError */
  load(conversation_id: string, partner?: Person): Promise<Participant[]>
  /** A person has other names, or another photo. */
  update(user: User): void
  /** Changes when what was read may be outdated. */
  outdated: ReadonlySignal<number>
  /** What has changed is not known: who takes part is read again. */
  invalidate(): void
  /** The participants as they were read the last time. */
  of(conversation_id: string): readonly Participant[]
  /** The name to show for a user; one who has left may have none. */
  nameOf(user_id: string | undefined): string
  /** Those who are no people. */
  assistants: Assistants
}

export function createPeople(client: ChatClient, { assistant }: Pick<Capabilities, 'assistant'>): People {
  const known = signal<ReadonlyMap<string, Person>>(new Map())
  const participants = new Map<string, readonly Participant[]>()
  const outdated = signal(0)
  const add = (people: readonly Person[]) => {
    known.value = new Map([...known.value, ...people.map((person): [string, Person] => [person.user_id, person])])
  }
  const strangers = createStrangers(async (asked) => {
    const ids = asked.filter((id) => !known.peek().has(id))
    if (ids.length === 0) return
    const { users } = await client.users.search({ ids: ids.join() })
    add(users.map(({ id, ...names }) => ({ user_id: id, ...names })))
  })

  const assistants = createAssistants(client, assistant)

  return {
    known,
    outdated,
    invalidate() {
      strangers.clear()
      assistants.invalidate()
      outdated.value++
    },
    async load(conversation_id, partner) {
      const all: Participant[] = []
      let after: string | undefined
      do {
        const page = await client.participants.list(conversation_id, { limit: PAGE, ...(after && { after }) })
        all.push(...page.participants)
        after = page.next_after
      } while (after !== undefined && all.length < MAX_READ)
      participants.set(conversation_id, all)
      add(partner ? [partner, ...all] : all)
      return all
    },
    update({ id, username, display_name, avatar_url }) {
      const names = { username, display_name, avatar_url }
      const rename = <Known extends Person>(each: Known) => (each.user_id === id ? { ...each, ...names } : each)
      for (const [conversation_id, all] of participants) participants.set(conversation_id, all.map(rename))
      const person = known.value.get(id)
      if (person) known.value = new Map(known.value).set(id, rename(person))
    },
    of: (conversation_id) => participants.get(conversation_id) ?? [],
    nameOf(user_id) {
      const person = user_id === undefined ? undefined : known.value.get(user_id)
      if (user_id && !person) strangers.add(user_id)
      return nameOf(person)
    },
    assistants,
  }
}

/** How long those without a name are gathered: the participants of a conversation are read meanwhile. */
const GATHER_MS = 500

/** How many are read at once. */
const MAX_IDS = 100

/** Reads those whose names are shown and not known, each once: they have left, or take part in a large conversation. */
function createStrangers(read: (ids: readonly string[]) => Promise<void>) {
  const asked = new Set<string>()
  let next: string[] = []
  const readNext = () => {
    const ids = next
    next = []
    for (let from = 0; from < ids.length; from += MAX_IDS)
      void read(ids.slice(from, from + MAX_IDS)).catch(() => asked.clear())
  }
  return {
    add(id: string) {
      if (asked.has(id)) return
      asked.add(id)
      if (next.push(id) === 1) setTimeout(readNext, GATHER_MS)
    },
    clear: () => asked.clear(),
  }
}

/** The display name, or the username. */
export function nameOf(person: { username: string; display_name?: string } | undefined): string {
  return person ? person.display_name || person.username : texts.value.someone
}
