// The people of the application, who are in its own database. Real ones have hashed passwords.

import { randomBytes } from 'node:crypto'

/** What signs the logins. Without `SESSION_SECRET`, they end with the process, and each process has another secret. */
export const SECRET = process.env.SESSION_SECRET ?? randomBytes(32).toString('base64url')

/** A person who has an account of the application. */
export interface Person {
  id: string
  username: string
  password: string
}

const PEOPLE: Person[] = [
  { id: '1', username: 'ada', password: 'correct horse' },
  { id: '2', username: 'grace', password: 'battery staple' },
]

/** The person of a sign-in form. */
export function findByPassword(form: { username?: unknown; password?: unknown }): Person | undefined {
  return PEOPLE.find(({ username, password }) => username === form.username && password === form.password)
}

/** The person with an identifier. */
export function findPerson(id: string | undefined): Person | undefined {
  return PEOPLE.find((person) => person.id === id)
}

/** What the chat learns of a person. */
export function toIdentity(person: Person | undefined) {
  return person && { subject: person.id, username: person.username }
}
