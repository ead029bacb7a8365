import { clearSession, defineHandler } from 'nitro/h3'
import { chat } from '../utils/chat'
import { readLogin, SESSION } from '../utils/login'

export default defineHandler(async (event) => {
  const id = await readLogin(event)
  await clearSession(event, SESSION)
  if (id) await chat.sessions.endForSubject(id)
  event.res.status = 204
  return null
})
