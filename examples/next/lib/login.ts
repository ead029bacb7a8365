import { getIronSession, type SessionOptions } from 'iron-session'
import { cookies } from 'next/headers'

// Read when it is needed: a build has no secret. A random one would be another one in each bundle and process of Next.
function options(): SessionOptions {
  const password = process.env.SESSION_SECRET
  if (!password) throw new Error('Set SESSION_SECRET, which signs the logins: openssl rand -base64 32')
  return { cookieName: 'login', password, cookieOptions: { sameSite: 'lax' } }
}

type Login = { person_id?: string }

/** The login of the current request, in a route handler or a server action. */
export const currentLogin = async () => getIronSession<Login>(await cookies(), options())

/** The login of any request. */
export const loginOf = (request: Request) => getIronSession<Login>(request, new Response(), options())

// The people of the application, who are in its own database. Real ones have hashed passwords.
export const PEOPLE = [
  { id: '1', username: 'ada', password: 'correct horse' },
  { id: '2', username: 'grace', password: 'battery staple' },
]
