import type { Actor, Chat } from '../../../lib/index.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'

/** A user with the name that mentions have. */
export type Known = Actor & { username: string }

/** A service of a database. */
export async function startChat(database: string, now?: () => number): Promise<Chat> {
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, await openStorage({ database, strict: true }), now ? { now } : {})
  await chat.start()
  return chat
}

/** The administrator, and others. */
export async function createPeople(chat: Chat, count: number): Promise<Known[]> {
  await chat.setup.run({ email: 'p0@example.org', password: 'correct horse' })
  const { users } = await chat.users.list(OPERATOR)
  const people = [{ ...(await chat.users.actor(users[0]!.id)), username: users[0]!.username }]
  for (let i = 1; i < count; i++) people.push(await createPerson(chat, `p${i}`))
  return people
}

/** A user of this name. */
export async function createPerson(chat: Chat, username: string): Promise<Known> {
  const { user } = await chat.users.create(OPERATOR, { username, email: `${username}@example.org` })
  return { ...(await chat.users.actor(user.id)), username }
}
