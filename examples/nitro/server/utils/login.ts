import { randomBytes } from 'node:crypto'
import { getSession, type HTTPEvent, type SessionConfig } from 'nitro/h3'

export const SESSION: SessionConfig = {
  // Without it, the logins end with the process, and each process has another secret.
  password: process.env.SESSION_SECRET ?? randomBytes(32).toString('base64url'),
  cookie: { sameSite: 'lax' },
}

/** The id of the person who is signed in. */
export async function readLogin(event: HTTPEvent): Promise<string | undefined> {
  return (await getSession<{ person_id?: string }>(event as never, SESSION)).data.person_id
}

// The people of the application, who are in its own database. Real ones have hashed passwords.
export const PEOPLE = [
  { id: '1', username: 'ada', password: 'correct horse' },
  { id: '2', username: 'grace', password: 'battery staple' },
]
