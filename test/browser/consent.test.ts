import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { insertClient } from '../../lib/accounts/oauth-clients/store.ts'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { hasBrowser, openLaxBrowser } from '../support/browser.ts'
import { innerState } from '../support/service.ts'
import { look } from './looks.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }

/** A program on this computer that waits for its user to come back. */
async function startProgram(host: string) {
  const server = createServer((_, response) => response.end('<h1>Connected to the chat</h1>')).listen(0, host)
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/callback`
}

async function startServer() {
  const server = createServer((request, response) => listener?.(request, response)).listen(0, '127.0.0.1')
  let listener: ReturnType<typeof createNodeListener> | undefined
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const config = parseConfig({
    server: { public_url: url },
    mcp: { oauth: { enabled: true } },
    security: { password: { bcrypt_cost: 4 } },
  })
  const chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  await chat.setup.run(ADA)
  listener = createNodeListener(chat)
  onTestFinished(async () => {
    server.close()
    server.closeAllConnections()
    await chat.close()
  })
  return { url, chat }
}

/** A service with a client that goes back to a program at an address, and its page in a browser in which Ada is signed in. */
async function openConsent(host: string, scope: string, changes: object = {}) {
  const { url, chat } = await startServer()
  const redirect_uri = await startProgram(host)
  const ctx = innerState(chat)
  const client = { client_id: ctx.id(), kind: 'operator', name: 'Claude', redirect_uris: [redirect_uri] } as const
  await ctx.write((tx) => insertClient(tx, { ...client, created_at: ctx.now() }))
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: client.client_id, redirect_uri, state: 'x', scope },
    ...{ code_challenge: 'a'.repeat(43), code_challenge_method: 'S256', ...changes },
  })
  const page = await (await openLaxBrowser()).newPage()
  await page.goto(`${url}/oauth/authorize?${query}`)
  await page.fill('[name=email]', ADA.email)
  await page.fill('[name=password]', ADA.password)
  await page.click('button:text("Sign in")')
  return { page, url, redirect_uri }
}

// A browser takes the redirect of a form for its target, and a policy that does not name it blocks it.
describe.skipIf(!hasBrowser)('the page of the authorization server', () => {
  it.each(['127.0.0.1', '::1'])('asks, and leads back to a program at %s', { timeout: 120_000 }, async (host) => {
    const { page, url, redirect_uri } = await openConsent(host, 'chat:read chat:ask')
    await page.waitForSelector('[name=started]')
    const isTicked = (name: string) => page.evaluate(`document.querySelector('[name=${name}]').checked`)
    expect([await isTicked('ask'), await isTicked('write'), await isTicked('started')]).toEqual([true, false, false])
    // The browser itself asks for the box, and sends nothing.
    await page.click('button:text("Allow")')
    expect(await page.evaluate(`document.querySelector('[name=started]').validity.valueMissing`)).toBe(true)
    expect(page.url()).toContain('/oauth/authorize')
    await page.click('[name=started]')
    await page.click('button:text("Allow")')
    await page.waitForSelector('h1:text("Connected")')
    const answer = new URL(page.url())
    expect(answer.origin + answer.pathname).toBe(redirect_uri)
    expect(Object.fromEntries(answer.searchParams)).toEqual({ code: expect.any(String), state: 'x', iss: url })
  })

  it('is whole without scripts, by the keyboard alone, and for assistive technology', {
    timeout: 120_000,
  }, async () => {
    const { page } = await openConsent('127.0.0.1', 'chat:read chat:write')
    await page.waitForSelector('[name=started]')
    await look(page, 'consent')
    expect(await page.evaluate('document.scripts.length')).toBe(0)
    const focused = () => page.evaluate('document.activeElement.name + document.activeElement.textContent')
    const press = async (key: string, until: string) => {
      for (let n = 0; n < 10 && (await focused()) !== until; n++) await page.keyboard.press(key)
      expect(await focused()).toBe(until)
    }
    await press('Tab', 'started')
    await page.keyboard.press('Space')
    await press('Tab', 'decisionAllow')
    await page.keyboard.press('Enter')
    await page.waitForSelector('h1:text("Connected")')
    expect(new URL(page.url()).searchParams.get('code')).toEqual(expect.any(String))
  })

  it('leads back with an error right after the sign-in', { timeout: 120_000 }, async () => {
    const { page } = await openConsent('127.0.0.1', '', { code_challenge_method: 'plain' })
    await page.waitForSelector('h1:text("Connected")')
    expect(new URL(page.url()).searchParams.get('error')).toBe('invalid_request')
  })

  it('leads back without the box when its user denies it', { timeout: 120_000 }, async () => {
    const { page } = await openConsent('127.0.0.1', '')
    await page.click('button:text("Deny")')
    await page.waitForSelector('h1:text("Connected")')
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  })
})
