import { OPERATOR } from '../../lib/core/actor.ts'
import type { Chat } from '../../lib/service.ts'

/** The flag of every command that is about one user. */
export const userArg = {
  user: { type: 'string', required: true, valueHint: 'name', description: 'Username, e-mail address or id' },
} as const

/** The id of the user that was named. */
export async function idOf(chat: Chat, name: string): Promise<string> {
  return (await chat.users.find(OPERATOR, name)).id
}
