import { defineHandler, readBody, updateSession } from 'nitro/h3'
import { PEOPLE, SESSION } from '../utils/login'

export default defineHandler(async (event) => {
  const form = (await readBody<{ username?: string; password?: string }>(event)) ?? {}
  const person = PEOPLE.find(({ username, password }) => username === form.username && password === form.password)
  if (person) await updateSession(event, SESSION, { person_id: person.id })
  event.res.status = person ? 204 : 401
  return null
})
