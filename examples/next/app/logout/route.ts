import { getChat } from '../../lib/chat'
import { currentLogin } from '../../lib/login'

export async function POST(): Promise<Response> {
  const login = await currentLogin()
  const { person_id } = login
  login.destroy()
  const { chat } = await getChat()
  if (person_id) await chat.sessions.endForSubject(person_id)
  return new Response(null, { status: 204 })
}
