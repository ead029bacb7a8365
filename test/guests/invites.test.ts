import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../lib/client/admin.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeService } from '../support/describe-service.ts'
import { codeOf, PASSWORD, type Person } from '../support/service.ts'

const ORIGIN = 'https://shop.example.org'

const CONFIG = {
  guests: { enabled: true, contacts: ['ada'], per_ip_per_hour: 10_000 },
  server: { cors: { token_origins: [ORIGIN] } },
}

describeService('guests with an invite', { config: CONFIG }, (service) => {
  let ada: Person
  let n = 0
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  function send(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    return checkedFetch(`${service.base_url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }
  const cookieOf = (response: Response) =>
    response.headers
      .getSetCookie()
      .map((line) => line.split(';')[0]!)
      .join('; ')
  const me = async (cookie: string) =>
    (await checkedFetch(`${service.base_url}/api/auth/me`, { headers: { cookie } })).json() as Promise<{
      user?: { id: string; username: string; email?: string; kind?: string }
      code?: string
    }>

  /** A guest in a browser, who has written, and an invite into another conversation. */
  async function begin() {
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    const token = (await ada.invites.create(conversation_id, {})).token!
    const made = await send('/api/guests', {})
    const guest = (await made.json()) as { user: { id: string }; csrf_token: string; conversation_id: string }
    const cookie = cookieOf(made)
    const headers = { cookie, 'x-csrf-token': guest.csrf_token }
    const posted = await send(`/api/threads/${guest.conversation_id}/root`, { content: 'Hello' }, headers)
    const { message_id } = (await posted.json()) as { message_id: string }
    const username = `newcomer-${n++}`
    const account = { username, email: `${username}@example.org`, password: PASSWORD }
    return { conversation_id, token, guest_id: guest.user.id, cookie, headers, message_id, account }
  }
  const participants = async (conversationId: string) =>
    (await ada.conversations.get(conversationId)).participants.map(({ user_id }) => user_id)

  it.each([true, false])(
    'sign up with what they wrote, with and without a CSRF token, the token sent: %s',
    async (isSent) => {
      const { account, cookie, headers, ...given } = await begin()
      const sent = isSent ? headers : { cookie }
      const response = await send('/api/invites/accept', { token: given.token, claim: true, ...account }, sent)
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ conversation_id: given.conversation_id })
      const { user } = await me(cookieOf(response))
      expect(user).toMatchObject({ username: account.username, email: account.email })
      expect(user).not.toHaveProperty('kind')
      expect((await ada.messages.get(given.message_id)).author_user_id).toBe(user!.id)
      expect(await participants(given.conversation_id)).toEqual([ada.id, user!.id])
      expect((await ada.users.get(given.guest_id)).user.id).toBe(user!.id)
      expect((await me(cookie)).code).toBe('unauthenticated')
      expect((await service.chat.ops.fsck()).findings).toEqual([])
    },
  )

  it('sign up as another user without claim, and their session ends', async () => {
    const { account, cookie, ...given } = await begin()
    const response = await send('/api/invites/accept', { token: given.token, ...account }, { cookie })
    const { user } = await me(cookieOf(response))
    expect(user!.username).toBe(account.username)
    expect((await ada.messages.get(given.message_id)).author_user_id).toBe(given.guest_id)
    expect(await participants(given.conversation_id)).toEqual([ada.id, user!.id])
    expect((await me(cookie)).code).toBe('unauthenticated')
  })

  it('accept it as they are without an account to create, with a CSRF token only', async () => {
    const { cookie, headers, ...given } = await begin()
    const refused = await send('/api/invites/accept', { token: given.token, claim: true }, { cookie })
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([403, 'csrf_failed'])
    expect((await send('/api/invites/accept', { token: given.token, claim: true }, headers)).status).toBe(200)
    expect(await participants(given.conversation_id)).toEqual([ada.id, given.guest_id])
    expect((await me(cookie)).user!.kind).toBe('guest')
  })

  it('are told what an account lacks, and stay as they are when they cannot sign up', async () => {
    const { account, cookie, ...given } = await begin()
    const accept = async (body: object) => {
      const response = await send('/api/invites/accept', { token: given.token, claim: true, ...body }, { cookie })
      return ((await response.json()) as { code: string }).code
    }
    expect(await accept({ email: account.email })).toBe('unauthenticated')
    expect(await accept({ password: account.password })).toBe('unauthenticated')
    expect(await accept({ ...account, email: null })).toBe('validation_failed')
    expect(await accept({ ...account, email: ada.email })).toBe('email_taken')
    expect((await me(cookie)).user!.id).toBe(given.guest_id)
    expect(await participants(given.conversation_id)).toEqual([ada.id])
  })

  it('with a token accept it, or sign up and take over later what they wrote', async () => {
    const { token, account, conversation_id } = await begin()
    const guest = await service.chat.guests.create({}, { token: true })
    if (!('expires_at' in guest)) throw new Error('expected a token')
    const authorization = `Bearer ${guest.token}`
    const foreign = { authorization, origin: ORIGIN, 'sec-fetch-site': 'cross-site' }
    const refused = await send('/api/invites/accept', { token, ...account }, foreign)
    expect(((await refused.json()) as { code: string }).code).toBe('csrf_failed')
    const response = await send('/api/invites/accept', { token, ...account }, { authorization })
    const { user } = await me(cookieOf(response))
    expect(user!.username).toBe(account.username)
    expect(await participants(conversation_id)).toEqual([ada.id, user!.id])
    const as = createAdminClient({ base_url: service.base_url, api_key: guest.token, fetch: checkedFetch })
    const { token: another = '' } = await ada.invites.create(conversation_id, {})
    await as.invites.accept({ token: another })
    expect(await participants(conversation_id)).toEqual([ada.id, user!.id, guest.user.id])
    expect(await codeOf(as.invites.accept({ token: another, email: 'x@example.org' }))).toBe('unauthenticated')
  })

  it('a person who sends an account accepts as that person, with a CSRF token only', async () => {
    const { token, account, conversation_id } = await begin()
    const grace = await service.signIn(`grace-${n}`)
    await grace.invites.accept({ token, ...account })
    expect(await participants(conversation_id)).toEqual([ada.id, grace.id])
  })
})
