import { beforeAll, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { createMailbox } from '../support/mailbox.ts'
import {
  PASSWORD,
  type ServiceOptions,
  startService,
  type TestService,
  UNREACHABLE_PROVIDER,
} from '../support/service.ts'
import { type SignedHeaders, signInByHand } from '../support/stream.ts'

const OLD = 'https://chat.example.org'
const NEW = 'https://talk.example.net'

// What the guide to a move to another domain says: the service before, and after it has its new address.
describeOnEachDatabase('a service that gets another domain', (openUrl) => {
  const box = createMailbox()
  const services: TestService[] = []
  let email: string
  let before: TestService
  let after: TestService
  /** A browser that signed in at the old name. */
  let browser: SignedHeaders

  beforeAll(async () => {
    const url = await openUrl()
    const { redirect_uri: _, ...provider } = UNREACHABLE_PROVIDER
    const attachments = await filesInFolder()
    const start = async (server: object) => {
      const config = { server, oauth: { provider_a: provider }, attachments, security: { cookie: { secure: true } } }
      const service = await startService(url, { config, ports: { mail: box.deliver } } as ServiceOptions)
      services.push(service)
      return service
    }
    before = await start({ public_url: OLD })
    email = (await before.signIn('ada')).email
    browser = await signInByHand(before.base_url, email, PASSWORD)
    after = await start({ public_url: NEW, cors: { allowed_origins: [OLD] } })
    return () => Promise.all(services.map((service) => service.close()))
  })

  const post = (service: TestService, path: string, headers: Record<string, string>, body: object = {}) =>
    fetch(service.base_url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  it('serves the pages of the old name to their users, in browsers that send only Origin as long as it is listed', async () => {
    const page = { ...browser, origin: OLD }
    expect((await post(after, '/api/conversations', page)).status).toBe(201)
    // As in the guide: the list is emptied at the end.
    const last = await startService(await openUrl(), {
      config: { server: { public_url: NEW }, security: { cookie: { secure: true } } },
    })
    const { email: other } = await last.signIn('ada')
    const left = { ...(await signInByHand(last.base_url, other, PASSWORD)), origin: OLD }
    const refused = await post(last, '/api/conversations', left)
    expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'csrf_failed' }])
    expect((await post(last, '/api/conversations', { ...left, 'sec-fetch-site': 'same-origin' })).status).toBe(201)
    await last.close()
  })

  it('lets pages of the old name read its answers from the new one', async () => {
    const preflight = await fetch(`${after.base_url}/api/auth/login`, {
      method: 'OPTIONS',
      headers: { origin: OLD, 'access-control-request-method': 'POST' },
    })
    expect(preflight.headers.get('access-control-allow-origin')).toBe(OLD)
  })

  it('asks its users to sign in once: cookies belong to the host that set them', async () => {
    const signedIn = await post(after, '/api/auth/login', { origin: NEW }, { email, password: PASSWORD })
    expect(signedIn.status).toBe(200)
    const cookies = signedIn.headers.getSetCookie()
    expect(cookies.length).toBeGreaterThan(0)
    for (const cookie of cookies) expect(cookie).not.toMatch(/domain=/i)
    // The session of the old name goes on until it ends there.
    expect((await fetch(`${after.base_url}/api/auth/me`, { headers: browser })).status).toBe(200)
  })

  it('mails links of the new name, and takes those it mailed before', async () => {
    const mailed = async (service: TestService) => {
      await service.client().resets.request({ email })
      return box.next()
    }
    const old = await mailed(before)
    expect(old.text).toContain(`${OLD}/account/reset-password#token=${old.token}`)
    const redeemed = await post(after, '/api/auth/reset', { origin: NEW }, { token: old.token, password: PASSWORD })
    expect(redeemed.status).toBe(204)
    expect((await mailed(after)).text).toContain(`${NEW}/account/reset-password#token=`)
    browser = await signInByHand(before.base_url, email, PASSWORD)
  })

  it('sends users of a provider back to the new name', async () => {
    const callback = async (service: TestService) => {
      const response = await fetch(`${service.base_url}/api/oauth/provider_a`)
      const { auth_url } = (await response.json()) as { auth_url: string }
      return new URL(auth_url).searchParams.get('redirect_uri')
    }
    expect([await callback(before), await callback(after)]).toEqual(
      [OLD, NEW].map((name) => `${name}/api/oauth/provider_a/callback`),
    )
  })

  it('opens links to files that were made before, and makes new ones with the new name', async () => {
    const ada = await before.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const { id } = await ada.upload(conversation_id, new File(['a text'], 'a.txt'))
    const linkOf = async (service: TestService) => {
      const response = await post(service, `/api/attachments/${id}/link`, browser)
      return ((await response.json()) as { url: string }).url
    }
    const [old, now] = [await linkOf(before), await linkOf(after)]
    expect([new URL(old).origin, new URL(now).origin]).toEqual([OLD, NEW])
    expect(await (await fetch(old.replace(OLD, after.base_url))).text()).toBe('a text')
  })
})
