import { currentLogin, PEOPLE } from '../../lib/login'

export async function POST(request: Request): Promise<Response> {
  const form = await request.json().catch(() => ({}))
  const person = PEOPLE.find(({ username, password }) => username === form.username && password === form.password)
  if (!person) return new Response(null, { status: 401 })
  const login = await currentLogin()
  login.person_id = person.id
  await login.save()
  return new Response(null, { status: 204 })
}
