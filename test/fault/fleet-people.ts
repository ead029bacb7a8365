import { type AdminClient, createAdminClient } from '../../lib/client/admin.ts'
import { type SignedHeaders, signInByHand } from '../support/stream.ts'
import type { Fleet } from './fleet.ts'
import { ADA, settle } from './people.ts'

/** A user of several nodes. */
export interface FleetUser {
  id: string
  /** Of another session. */
  headers: SignedHeaders
  /** Its requests go to nodes by chance. Reads are repeated when their node dies. */
  client: AdminClient
}

/** Ada, who is in all conversations, and her guests, who are in the first. */
export interface FleetPeople {
  ada: FleetUser
  guests: FleetUser[]
  conversationIds: string[]
  /** Another guest. */
  invite(): Promise<FleetUser>
}

/** Sets a service up, with conversations and guests. */
export async function settleFleet(
  fleet: Fleet,
  counts: { conversations: number; guests: number },
): Promise<FleetPeople> {
  const { conversation_id } = await settle((await fleet.pick()).base_url)
  const ada = await signIn(fleet, ADA)
  const conversationIds = [conversation_id]
  while (conversationIds.length < counts.conversations)
    conversationIds.push((await ada.client.conversations.create()).conversation_id)
  let invited = 0

  async function invite(): Promise<FleetUser> {
    const name = `guest${++invited}`
    const login = { email: `${name}@example.org`, password: ADA.password }
    const { user } = await ada.client.users.create({ username: name, ...login, roles: ['member'] })
    await ada.client.participants.add(conversation_id, { user_id: user.id })
    return signIn(fleet, login)
  }
  const guests: FleetUser[] = []
  while (guests.length < counts.guests) guests.push(await invite())
  return { ada, guests, conversationIds, invite }
}

async function signIn(fleet: Fleet, login: { email: string; password: string }): Promise<FleetUser> {
  const client = createAdminClient({ base_url: ANY, fetch: fetchFrom(fleet) })
  const { user } = await client.auth.login(login)
  const headers = await signInByHand((await fleet.pick()).base_url, login.email, login.password)
  return { id: user.id, headers, client }
}

const ANY = 'http://any.invalid'

/** A `fetch` that asks a node by chance. */
function fetchFrom(fleet: Fleet): typeof fetch {
  return async (input, init) => {
    for (;;) {
      const { base_url } = await fleet.pick()
      try {
        return await fetch(String(input).replace(ANY, base_url), init)
      } catch (error) {
        if ((init?.method ?? 'GET') !== 'GET') throw error
      }
    }
  }
}
