import { getIronSession, type SessionOptions } from 'iron-session'
import { cookies } from 'next/headers'

const OPTIONS: SessionOptions = {
  cookieName: 'login',
  password: 'a secret of the application of 32 characters',
  cookieOptions: { sameSite: 'lax' },
}

type Login = { person_id?: string }

/** The login of the current request, in a route handler or a server action. */
export const currentLogin = async () => getIronSession<Login>(await cookies(), OPTIONS)

/** The login of any request. */
export const loginOf = (request: Request) => getIronSession<Login>(request, new Response(), OPTIONS)

// The people of the application, who are in its own database. Real ones have hashed passwords.
export const PEOPLE = [
  { id: '1', username: 'ada', password: 'correct horse' },
  { id: '2', username: 'grace', password: 'battery staple' },
]
