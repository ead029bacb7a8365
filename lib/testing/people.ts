import { UserInput } from '../accounts/users/schema.ts'
import { addUser } from '../accounts/users/service.ts'
import { findUserByUsername } from '../accounts/users/store.ts'
import { type Actor, OPERATOR, type Role, splitRoles } from '../core/actor.ts'
import { contextOf } from '../core/context-of.ts'
import { parseInput } from '../core/use-case.ts'
import type { Chat } from '../service.ts'

/** A user of a test chat. */
export interface TestUser {
  username: string
  roles?: Role[]
  /** With an `identity`: the host's own id of the user. Default: the username. */
  subject?: string
}

/** The users of a test chat, each with an address. */
export function toUsers(users: readonly (string | TestUser)[] = []): TestUser[] {
  if (!Array.isArray(users)) throw new TypeError('createTestChat: "users" must be a list')
  return users.map((person) => (typeof person === 'string' ? { username: person } : person))
}

/** What the host of a test knows of a user; the person that it identifies. */
export function toPerson({ username, subject = username, roles }: TestUser) {
  return { subject, username, email: addressOf(username), ...(roles && { roles }) }
}

/** The actors of the users, by username, with those that the database has already. */
export async function createUsers(chat: Chat, users: TestUser[]): Promise<Map<string, Actor>> {
  const ctx = contextOf(chat)
  const actors = new Map<string, Actor>()
  for (const user of users) {
    if (ctx.host.identity) await chat.users.ensure(OPERATOR, toPerson(user))
    const known = await findUserByUsername(ctx.db, String(user.username))
    if (known && !actors.has(user.username))
      actors.set(user.username, { user_id: known.id, roles: splitRoles(known.roles) })
    else actors.set(user.username, await addWithoutPassword(chat, user))
  }
  return actors
}

/** Without a password, which would have to be hashed, and so without the set-up that asks for one. */
async function addWithoutPassword(chat: Chat, { username, roles }: TestUser): Promise<Actor> {
  const ctx = contextOf(chat)
  const input = parseInput(UserInput, { username, email: addressOf(username), ...(roles && { roles }) })
  const row = await ctx.write(async (tx) => {
    const added = await addUser(ctx, tx, { ...input, password_hash: null })
    await ctx.accounts.joinRooms(tx, added)
    return added
  })
  return { user_id: row.id, roles: input.roles }
}

function addressOf(username: string): string {
  return `${username}@example.org`
}
