import { type AdminClient, createAdminClient } from '../../lib/client/admin.ts'

/** The first administrator. */
export const ADA = { email: 'ada@example.org', password: 'correct horse battery' }

/** A conversation on a running service, with clients for it. */
export interface Place {
  conversation_id: string
  /** A new client, signed in. */
  signIn(): Promise<AdminClient>
  /** The same at another address. */
  signInAt(base_url: string): Promise<AdminClient>
  /** The `Cookie` header of a new session. */
  cookie(): Promise<string>
}

/** Sets a service up and opens a conversation in it. */
export async function settle(base_url: string): Promise<Place> {
  const ada = createAdminClient({ base_url })
  await ada.setup.run(ADA)
  await ada.auth.login(ADA)
  const { conversation_id } = await ada.conversations.create()
  return {
    conversation_id,
    signIn: () => signInAt(base_url),
    signInAt,
    async cookie() {
      const response = await fetch(`${base_url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(ADA),
      })
      return response.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ')
    },
  }
}

/** A new client of another service on the same database, signed in. */
export async function signInAt(base_url: string): Promise<AdminClient> {
  const client = createAdminClient({ base_url })
  await client.auth.login(ADA)
  return client
}
