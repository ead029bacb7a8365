import { OPERATOR } from '../../lib/core/actor.ts'
import type { Chat } from '../../lib/service.ts'

/** The flag of every command for one user. */
export const userArg = {
  user: { type: 'string', required: true, valueHint: 'name', description: 'Username, email address or id' },
} as const

/** The id of the user with this username, email address or id. */
export async function userIdOf(chat: Chat, name: string): Promise<string> {
  return (await chat.users.find(OPERATOR, name)).id
}
