import { insertSession } from '../../../lib/accounts/sessions/store.ts'
import { insertUser } from '../../../lib/accounts/users/store-naming.ts'
import { insertParticipant } from '../../../lib/chat/memberships/store.ts'
import { insertConversation, NOT_DIRECT } from '../../../lib/chat/memberships/store-conversations.ts'
import { setRecount } from '../../../lib/chat/unread/store-recounting.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import { digest, newToken } from '../../../lib/core/ids.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import { MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { ACCOUNT, urlOf } from './service.ts'

/** A signed-in user. */
export interface Person {
  user_id: string
  /** What the user's requests carry. */
  headers: Record<string, string>
}

/** A conversation with one thread. */
export interface Place {
  conversation_id: string
  root_id: string
}

const SESSION_SECONDS = 24 * 60 * 60

/** Users of one transaction, and threads that are started at the same time. */
const BATCH = 100

/**
 * Sets a new database up, and stores users with a session each and conversations between them. It writes the rows itself:
 * thousands of users who sign in would take longer than what is measured.
 *
 * @param groups the users of each conversation, by number; the first one owns it and has started its thread
 */
export async function createPeople(
  database: string,
  count: number,
  groups: number[][],
): Promise<{ people: Person[]; places: Place[] }> {
  return withChat(database, async (chat) => {
    await chat.setup.run(ACCOUNT)
    // A service counts what is unread once on a new database, which has no participants yet: not in the middle of what is measured.
    await contextOf(chat).write((tx) => setRecount(tx, { schema: MIGRATIONS.length }))
    const people = await inBatches(numbers(count), (batch) => addPeople(chat, batch))
    const places = await inBatches(groups, (batch) => addPlaces(chat, people, batch))
    return { people, places }
  })
}

/** Stores replies of a user to the root of a thread. @returns their ids */
export function addReplies(
  database: string,
  { user_id }: Person,
  { root_id }: Place,
  count: number,
): Promise<string[]> {
  return withChat(database, async (chat) => {
    const author = await chat.users.actor(user_id)
    const posted = await inBatches(numbers(count), (batch) =>
      Promise.all(batch.map((n) => chat.messages.reply(author, root_id, { content: `Reply ${n}` }))),
    )
    return posted.map(({ message_id }) => message_id)
  })
}

/** Gives `work` the library on a database, in the process of the benchmark. */
export async function withChat<T>(
  database: string,
  work: (chat: Chat) => Promise<T>,
  settings: object = {},
): Promise<T> {
  // Only what comes later is measured: what fills the database need not wait for the disk.
  const storage = await openStorage({ database: urlOf(database), durability: 'os' })
  const chat = createChatService(parseConfig({ security: { password: { bcrypt_cost: 4 } }, ...settings }), storage)
  try {
    await chat.start({ background: false })
    return await work(chat)
  } finally {
    await chat.close()
  }
}

function addPeople(chat: Chat, batch: number[]): Promise<Person[]> {
  const { id, now, write } = contextOf(chat)
  return write(async (tx) => {
    const people: Person[] = []
    for (const n of batch) {
      const [user_id, token, csrf, at] = [id(), newToken(), newToken(), now()]
      await insertUser(tx, {
        id: user_id,
        email: `person-${n}@example.org`,
        email_verified_at: at,
        username: `person-${n}`,
        display_name: null,
        roles: 'member',
        kind: 'person' as const,
        password_hash: null,
        avatar_url: null,
        disabled_at: null,
        created_at: at,
      })
      await insertSession(tx, {
        id: id(),
        user_id,
        token_hash: digest(token),
        csrf_hash: digest(csrf),
        issued_at: at,
        confirmed_at: at,
        last_seen_at: at,
        idle_expires_at: at + SESSION_SECONDS * SECOND,
        absolute_expires_at: at + SESSION_SECONDS * SECOND,
        user_agent: null,
        ip: null,
      })
      people.push({ user_id, headers: { cookie: `SESSION_ID=${token}; CSRF-TOKEN=${csrf}`, 'x-csrf-token': csrf } })
    }
    return people
  })
}

async function addPlaces(chat: Chat, people: Person[], groups: number[][]): Promise<Place[]> {
  const { id, now, write } = contextOf(chat)
  const ids = await write(async (tx) => {
    const created: string[] = []
    for (const group of groups) {
      const [conversation_id, at] = [id(), now()]
      await insertConversation(tx, {
        id: conversation_id,
        title: 'Bench',
        is_group: 1,
        ref: null,
        metadata: null,
        created_at: at,
        ...NOT_DIRECT,
      })
      for (const [n, person] of group.entries()) {
        const { user_id } = people[person]!
        await insertParticipant(tx, conversation_id, { user_id, role: n === 0 ? 'owner' : 'member', joined_at: at })
      }
      created.push(conversation_id)
    }
    return created
  })
  return Promise.all(
    ids.map(async (conversation_id, n) => {
      const owner = await chat.users.actor(people[groups[n]![0]!]!.user_id)
      const { root_id } = await chat.messages.postRoot(owner, conversation_id, { content: 'Bench' })
      return { conversation_id, root_id }
    }),
  )
}

async function inBatches<T, R>(values: T[], work: (batch: T[]) => Promise<R[]>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < values.length; from += BATCH)
    results.push(...(await work(values.slice(from, from + BATCH))))
  return results
}

/** The numbers from 0 to below `count`. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}
