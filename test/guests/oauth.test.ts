import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Browser, createBrowser, PUBLIC_URL } from '../accounts/oauth/browser.ts'
import { type OpenIdProvider, startOpenId } from '../accounts/oauth/openid.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, startService, type TestService } from '../support/service.ts'

describeOnEachDatabase('guests who sign in at a provider', (openUrl) => {
  let service: TestService
  let provider: OpenIdProvider
  beforeAll(async () => {
    provider = await startOpenId('provider_a')
    service = await startService(await openUrl(), {
      config: {
        server: { public_url: PUBLIC_URL },
        guests: { enabled: true, contacts: ['ada'] },
        oauth: { manual_enabled: true, provider_a: provider.config },
      },
    })
    await service.signIn('ada')
  })
  afterAll(async () => {
    await service.close()
    provider.close()
  })

  /** A browser with the cookies of a new guest, who has written. */
  async function begin() {
    const browser = createBrowser(service.base_url)
    const headers = { 'content-type': 'application/json' }
    const made = await browser.ask('/api/guests', { method: 'POST', headers, body: '{}' })
    const { user, conversation_id, csrf_token } = (await made.json()) as Record<string, string> & {
      user: { id: string }
    }
    const posted = await browser.ask(`/api/threads/${conversation_id}/root`, {
      method: 'POST',
      headers: { ...headers, 'x-csrf-token': csrf_token! },
      body: JSON.stringify({ content: 'Hello' }),
    })
    expect(posted.status).toBe(201)
    const { message_id } = (await posted.json()) as { message_id: string }
    return { browser, guest_id: user.id, conversation_id: conversation_id!, message_id }
  }

  const read = async (browser: Browser, path: string) =>
    (await browser.ask(path)).json() as Promise<Record<string, unknown>>

  it('have what they wrote as guests with claim, and lose it without', async () => {
    const claimed = await begin()
    await claimed.browser.signIn('provider_a', 'grace', { query: { claim: 'true' } })
    const { user } = (await read(claimed.browser, '/api/auth/me')) as { user: { id: string } }
    expect(user).not.toHaveProperty('kind')
    const message = await read(claimed.browser, `/api/messages/${claimed.message_id}`)
    expect(message).toMatchObject({ author_user_id: user.id, content: 'Hello' })
    expect(message).not.toHaveProperty('author_kind')
    expect(await codeOf(service.chat.users.actor(claimed.guest_id))).toBe('not_found')

    const left = await begin()
    await left.browser.signIn('provider_a', 'grace')
    expect(await read(left.browser, '/api/auth/me')).toMatchObject({ user: { id: user.id } })
    expect(await read(left.browser, `/api/messages/${left.message_id}`)).toMatchObject({ code: 'not_found' })
    expect((await service.chat.users.actor(left.guest_id)).roles).toEqual(['guest'])
  })
})
