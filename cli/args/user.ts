import { OPERATOR } from '../../lib/core/actor.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { didYouMean } from '../../lib/core/nearest.ts'
import type { Chat } from '../../lib/service.ts'

/** The flag of every command for one user. */
export const userArg = {
  user: { type: 'string', required: true, valueHint: 'name', description: 'Username, email address or id' },
} as const

/** The id of the user with this username, email address or id. */
export async function resolveUserId(chat: Chat, name: string): Promise<string> {
  const id = await findUserId(chat, name)
  if (id === undefined)
    throw new ChatError('not_found', {
      message: `There is no user "${name}"${await nearestOf(chat, name)} "chat-server user list" shows all.`,
    })
  return id
}

/** The id of a user with this username, email address or id. The id of an erased user is returned unchanged. */
export async function resolveFormerUserId(chat: Chat, name: string): Promise<string> {
  return (await findUserId(chat, name)) ?? (UUID.test(name) ? name : await resolveUserId(chat, name))
}

/** The end of the sentence, with the nearest username that has the same first letter. */
async function nearestOf(chat: Chat, name: string): Promise<string> {
  const { users } = await chat.users.list(OPERATOR, { query: name.slice(0, 1), limit: MAX_SUGGESTED })
  return (
    didYouMean(
      name,
      users.map(({ username }) => username),
    ) || '.'
  )
}

const MAX_SUGGESTED = 200

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

async function findUserId(chat: Chat, name: string): Promise<string | undefined> {
  try {
    return (await chat.users.find(OPERATOR, name)).id
  } catch (error) {
    if (error instanceof ChatError && error.code === 'not_found') return undefined
    throw error
  }
}

/** The usernames of users, by id; erased users and other ids are missing. */
export async function findUsernames(chat: Chat, ids: Iterable<string | undefined>): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const id of new Set(ids)) {
    if (id === undefined) continue
    const name = await chat.users.find(OPERATOR, id).then(
      ({ username }) => username,
      () => undefined,
    )
    if (name !== undefined) names.set(id, name)
  }
  return names
}
