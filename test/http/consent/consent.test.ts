import { beforeAll, describe, expect, it } from 'vitest'
import { insertClient } from '../../../lib/accounts/oauth-clients/store.ts'
import { MINUTE } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, PASSWORD, startService } from '../../support/service.ts'
import { alertIn, answerIn, createChallenge, fieldsOf, openBrowser, type Shown } from './visits.ts'

const ISSUER = 'https://chat.example.org/chat'
const config = {
  server: { public_url: ISSUER },
  mcp: { oauth: { enabled: true } },
  log: { requests: 'all' },
  security: { password: { bcrypt_cost: 4 }, cookie: { secure: false } },
}

/** The clock of the services. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

const lines: string[] = []
const note = (message: string, fields?: object) => void lines.push(JSON.stringify([message, fields]))
const log = { debug: note, info: note, warn: note, error: note }

const CLIENT_ID = '01980a3c-7000-7a10-8b20-0c4f1d2e3a90'
const REDIRECT = 'https://app.example/callback?from=chat'

describeService(
  'the page of the authorization server',
  (url) => startService(url, { config, ports: { now, log } }),
  (service) => {
    let ada: { id: string; email: string }
    beforeAll(async () => {
      ada = await service.signIn('ada')
      await service.signIn('grace')
      await innerState(service).write((tx) =>
        insertClient(tx, {
          client_id: CLIENT_ID,
          kind: 'operator',
          name: 'Claude <b>',
          redirect_uris: [REDIRECT, 'http://127.0.0.1/callback'],
          created_at: now(),
        }),
      )
    })

    /** The path of the page for a request, right but for what is given. */
    function pathOf(changes: Record<string, string | undefined> = {}) {
      const request = {
        response_type: 'code',
        client_id: CLIENT_ID,
        redirect_uri: REDIRECT,
        scope: 'chat:read chat:write unknown',
        state: 'a state & more "',
        code_challenge: createChallenge().code_challenge,
        code_challenge_method: 'S256',
        resource: `${ISSUER}/mcp`,
        ...changes,
      }
      const given = Object.entries(request).filter((entry): entry is [string, string] => entry[1] !== undefined)
      return `/chat/oauth/authorize?${new URLSearchParams(given)}`
    }

    /** A browser in which a user is signed in. */
    async function signedIn(email = ada.email) {
      const browser = openBrowser(service.base_url)
      const page = await browser.go(pathOf())
      expect(page.text).toContain('Sign in to see which one')
      const next = await browser.submit(page, { email, password: PASSWORD })
      expect(next.text).toContain('I started this at app.example')
      return { browser, page: next }
    }

    const grants = () =>
      innerState(service).db.all<{ user_id: string; scopes: string }>(
        sql`SELECT user_id, client_id, client_name, client_host, redirect_uri, scopes FROM grants ORDER BY id`,
      )
    const count = async () => (await grants()).length

    it('signs in, shows who asks for what, and sends the client a code for what was allowed', async () => {
      const { browser, page } = await signedIn()
      expect(page.status).toBe(200)
      expect(page.text).toContain('<dd>Claude &lt;b&gt; (app.example)</dd>')
      expect(page.text).toContain('<dt>It goes back to</dt><dd>app.example</dd>')
      expect(page.text).toContain('<dd>ada</dd>')
      expect(fieldsOf(page)).toMatchObject({ write: 'yes', state: 'a state & more "' })
      expect(fieldsOf(page)).not.toHaveProperty('ask')
      expect(fieldsOf(page)).not.toHaveProperty('started')
      expect(page.text).not.toContain('type="password"')
      expect(page.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self' https:\/\/app\.example; base-uri 'none'; frame-ancestors 'none'$/,
      )
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('referrer-policy')).toBe('same-origin')
      const sent = await browser.submit(page, { write: undefined, ask: 'yes', started: 'yes', decision: 'allow' })
      expect(sent.status).toBe(303)
      expect(sent.headers.get('cache-control')).toBe('no-store')
      expect(sent.url).toMatch(/^https:\/\/app\.example\/callback\?from=chat&code=/)
      const code = expect.stringMatching(/^[\w-]{43}$/)
      expect(answerIn(sent)).toEqual({ from: 'chat', code, state: 'a state & more "', iss: ISSUER })
      expect((await grants()).at(-1)).toEqual({
        ...{ user_id: ada.id, client_id: CLIENT_ID, client_name: 'Claude <b>', client_host: 'app.example' },
        ...{ redirect_uri: REDIRECT, scopes: expect.stringMatching(/^chat:read.chat:ask$/) },
      })
      const logged = lines.join('\n')
      for (const secret of [answerIn(sent).code!, 'a state', fieldsOf(page).code_challenge!, fieldsOf(page).ticket!])
        expect(logged).not.toContain(secret)
      expect(logged).toContain('/oauth/authorize')
    })

    it('asks at every authorization, and takes what is not asked for', async () => {
      const { browser } = await signedIn()
      const page = await browser.go(pathOf({ scope: undefined, state: undefined, resource: undefined }))
      expect(fieldsOf(page)).not.toHaveProperty('write')
      const sent = await browser.submit(page, { write: 'yes', ask: 'yes', started: 'yes', decision: 'allow' })
      expect(Object.keys(answerIn(sent))).toEqual(['from', 'code', 'iss'])
      expect((await grants()).at(-1)!.scopes.split(/[ ,]/)).toEqual(['chat:read', 'chat:write', 'chat:ask'])
      expect((await browser.go(pathOf())).text).toContain('I started this at')
    })

    it('sends a program on this computer to its own port', async () => {
      const { browser } = await signedIn()
      const page = await browser.go(pathOf({ redirect_uri: 'http://127.0.0.1:4711/callback' }))
      expect(page.text).toContain('<dd>a program on this computer</dd>')
      expect(page.headers.get('content-security-policy')).toContain("form-action 'self' http://127.0.0.1:4711;")
      const sent = await browser.submit(page, { started: 'yes', decision: 'allow' })
      expect(sent.url).toMatch(/^http:\/\/127\.0\.0\.1:4711\/callback\?code=/)
    })

    it('tells the client that its user denied it', async () => {
      const { browser, page } = await signedIn()
      const before = await count()
      const sent = await browser.submit(page, { decision: 'deny' })
      expect([sent.status, answerIn(sent)]).toEqual([
        303,
        {
          ...{ from: 'chat', error: 'access_denied', error_description: expect.any(String) },
          ...{ state: 'a state & more "', iss: ISSUER },
        },
      ])
      expect(await count()).toBe(before)
    })

    it.each([
      ['without the box', { decision: 'allow' }, 'Tick the box'],
      ['without a decision', { started: 'yes' }, 'Choose to allow'],
      ['with another decision', { started: 'yes', decision: 'perhaps' }, 'Choose to allow'],
    ])('grants nothing %s, and asks again with what was chosen', async (_title, filled, problem) => {
      const { browser, page } = await signedIn()
      const before = await count()
      const again = await browser.submit(page, { ...filled, write: undefined, ask: 'yes' })
      expect([again.status, alertIn(again)]).toEqual([400, expect.stringContaining(problem)])
      expect(fieldsOf(again)).toMatchObject({ ask: 'yes' })
      expect(fieldsOf(again)).not.toHaveProperty('write')
      expect(await count()).toBe(before)
      expect((await browser.submit(again, { started: 'yes', decision: 'allow' })).status).toBe(303)
    })

    describe('refuses on the page, without a redirect,', () => {
      it.each<[string, Record<string, string | undefined>, string]>([
        ['an unknown client', { client_id: CLIENT_ID.replace('9', '8') }, 'not known'],
        ['a client that is no id', { client_id: 'x'.repeat(600) }, 'not known'],
        ['no client', { client_id: undefined }, 'client_id is missing'],
        ['an empty client', { client_id: '' }, 'client_id is missing'],
        ['no redirect', { redirect_uri: undefined }, 'redirect_uri is missing'],
        ['an unlisted redirect', { redirect_uri: 'https://app.example/callback' }, 'has not published'],
        ['a redirect elsewhere', { redirect_uri: 'https://evil.example/' }, 'has not published'],
        ['a redirect to a script', { redirect_uri: 'javascript:alert(1)' }, 'has not published'],
        ['a long state', { state: 'x'.repeat(4097) }, 'too long'],
        ['a state of two lines', { state: 'a\nb' }, 'characters'],
      ])('%s', async (_title, changes, problem) => {
        const { browser, page } = await signedIn()
        for (const visitor of [browser, openBrowser(service.base_url)]) {
          const refused = await visitor.go(pathOf(changes))
          expect([refused.status, alertIn(refused)]).toEqual([400, expect.stringContaining(problem)])
          expect(refused.headers.get('location')).toBeNull()
        }
        const before = await count()
        const sent = await browser.submit(page, { ...changes, started: 'yes', decision: 'allow' })
        expect([400, 403]).toContain(sent.status)
        expect(await count()).toBe(before)
      })

      it.each(['client_id', 'redirect_uri', 'scope', 'state', 'resource', 'unknown'])('a repeated %s', async (name) => {
        const { browser, page } = await signedIn()
        const refused = await browser.go(`${pathOf({ unknown: 'a' })}&${name}=a`)
        expect([refused.status, alertIn(refused)]).toEqual([400, expect.stringContaining('more than once')])
        const body = new URLSearchParams({ ...fieldsOf(page), started: 'yes', decision: 'allow', unknown: 'a' })
        body.append(name, 'a')
        const before = await count()
        expect((await browser.go('/chat/oauth/authorize', { method: 'POST', body })).status).toBe(400)
        expect(await count()).toBe(before)
      })
    })

    it.each<[string, Record<string, string | undefined>, string]>([
      ['without a challenge', { code_challenge: undefined }, 'invalid_request'],
      ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
      ['without the method of its challenge', { code_challenge_method: undefined }, 'invalid_request'],
      ['with a challenge that is no digest', { code_challenge: 'abc' }, 'invalid_request'],
      ['without a response type', { response_type: undefined }, 'invalid_request'],
      ['that asks for a token', { response_type: 'token' }, 'unsupported_response_type'],
      ['that asks for both', { response_type: 'code token' }, 'unsupported_response_type'],
      ['for another resource', { resource: 'https://other.example/mcp' }, 'invalid_target'],
      ['for the service and not its /mcp', { resource: ISSUER }, 'invalid_target'],
    ])('sends a request %s back with an error', async (_title, changes, error) => {
      const { browser } = await signedIn()
      const sent = await browser.go(pathOf(changes))
      expect(sent.status).toBe(303)
      expect(answerIn(sent)).toEqual({
        ...{ from: 'chat', error, error_description: expect.any(String) },
        ...{ state: 'a state & more "', iss: ISSUER },
      })
    })

    describe('grants nothing by a form', () => {
      const DECIDED = { started: 'yes', decision: 'allow' }
      const refused = async (sent: Promise<Shown>, before: number) => {
        const { status, text, headers } = await sent
        expect([status, headers.get('location')]).toEqual([403, null])
        expect(text).toContain('Nothing was allowed')
        expect(await count()).toBe(before)
      }

      it.each([
        ['from another origin', { origin: 'https://evil.example' }],
        ['from an origin that is hidden', { origin: 'null' }],
        ['from another site', { origin: 'https://chat.example.org', 'sec-fetch-site': 'cross-site' }],
        ['from a neighbouring host', { origin: 'https://other.example.org', 'sec-fetch-site': 'same-site' }],
      ])('%s', async (_title, headers) => {
        const { browser, page } = await signedIn()
        const before = await count()
        await refused(browser.submit(page, DECIDED, headers), before)
        await refused(browser.submit(page, { decision: 'deny' }, headers), before)
        const own = { origin: 'https://chat.example.org', 'sec-fetch-site': 'same-origin' }
        expect((await browser.submit(page, DECIDED, own)).status).toBe(303)
      })

      it('that was shown to another user, or in another session', async () => {
        const before = await count()
        const { page } = await signedIn()
        const { browser: grace } = await signedIn('grace@example.org')
        await refused(grace.submit(page, DECIDED), before)
        const { browser: again } = await signedIn()
        await refused(again.submit(page, DECIDED), before)
      })

      it.each([
        ['client_id', 'https://app.example/client.json'],
        ['redirect_uri', 'http://127.0.0.1/callback'],
        ['scope', 'chat:ask'],
        ['state', 'other'],
        ['state', undefined],
        ['code_challenge', createChallenge().code_challenge],
        ['resource', undefined],
        ['ticket', undefined],
        ['ticket', 'x.y'],
      ])('whose %s was changed to %s', async (name, value) => {
        const { browser, page } = await signedIn()
        await refused(browser.submit(page, { ...DECIDED, [name]: value }), await count())
      })

      it('that was open for ten minutes, but asks anew', async () => {
        const { browser, page } = await signedIn()
        const before = await count()
        ahead += 10 * MINUTE
        const again = await browser.submit(page, DECIDED)
        expect([again.status, alertIn(again)]).toEqual([400, expect.stringContaining('open for too long')])
        expect(await count()).toBe(before)
        // The sign-in is ten minutes old as well.
        expect((await browser.submit(again, { ...DECIDED, password: PASSWORD })).status).toBe(303)
      })
    })

    it('asks for the password when the sign-in is ten minutes old', async () => {
      const { browser } = await signedIn()
      ahead += 11 * MINUTE
      const before = await count()
      const page = await browser.go(pathOf())
      expect(page.text).toContain('name="password"')
      const decided = { started: 'yes', decision: 'allow' }
      const without = await browser.submit(page, { ...decided, password: undefined })
      expect([without.status, alertIn(without)]).toEqual([403, expect.any(String)])
      const wrong = await browser.submit(without, { ...decided, password: 'wrong horse battery' })
      expect([wrong.status, alertIn(wrong)]).toEqual([403, expect.any(String)])
      expect(await count()).toBe(before)
      expect((await browser.submit(wrong, { ...decided, password: PASSWORD })).status).toBe(303)
      expect(await count()).toBe(before + 1)
      // It is confirmed for ten minutes.
      expect((await browser.go(pathOf())).text).not.toContain('name="password"')
    })

    it('asks a user without a password to sign in again', async () => {
      const { browser } = await signedIn('grace@example.org')
      await innerState(service).write((tx) =>
        tx.run(sql`UPDATE users SET password_hash = NULL WHERE email = 'grace@example.org'`),
      )
      ahead += 11 * MINUTE
      const page = await browser.go(pathOf())
      expect([page.status, alertIn(page)]).toEqual([200, expect.stringContaining('Sign in again')])
    })

    it('names for a client without a document the host that it goes back to, and no other one of its redirects', async () => {
      await innerState(service).write((tx) =>
        insertClient(tx, {
          client_id: 'two-hosts',
          kind: 'registered',
          name: 'Claude',
          redirect_uris: ['https://claude.example/callback', 'https://evil.example/callback'],
          created_at: now(),
        }),
      )
      const { browser } = await signedIn()
      const page = await browser.go(pathOf({ client_id: 'two-hosts', redirect_uri: 'https://evil.example/callback' }))
      expect(page.text).toContain('I started this at evil.example')
      expect(page.text).not.toContain('claude.example')
      await browser.submit(page, { started: 'yes', decision: 'allow' })
      expect((await grants()).at(-1)).toMatchObject({ client_host: 'evil.example' })
    })

    it('has a bound for how often a user allows something, and says when to come back', async () => {
      const { browser, page } = await signedIn()
      let last = page
      for (let n = 0; n < 110 && last.status !== 429; n++)
        last = await browser.submit(page, { started: 'yes', decision: 'allow' })
      expect([last.status, last.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
      ahead += 120 * MINUTE
    })

    it('says what was wrong with a sign-in, and asks again', async () => {
      const browser = openBrowser(service.base_url)
      const page = await browser.go(pathOf())
      const wrong = await browser.submit(page, { email: '"ada', password: 'wrong horse battery' })
      expect(wrong.status).toBe(401)
      expect(alertIn(wrong)).toEqual(expect.any(String))
      expect(fieldsOf(wrong)).toMatchObject({ email: '"ada', password: '', client_id: CLIENT_ID })
      expect(wrong.headers.get('content-security-policy')).toContain("form-action 'self' https://app.example;")
      const elsewhere = await openBrowser(service.base_url).go(
        pathOf({ client_id: 'https://app.example/client.json', redirect_uri: "javascript:'; script-src *" }),
      )
      expect(elsewhere.headers.get('content-security-policy')).toContain("form-action 'self';")
      const foreign = await browser.submit(
        page,
        { email: ada.email, password: PASSWORD },
        { origin: 'https://a.example' },
      )
      expect(foreign.status).toBe(403)
      expect(browser.cookies.size).toBe(0)
      expect((await browser.submit(wrong, { email: ada.email, password: PASSWORD })).status).toBe(200)
    })

    it('is no page for keys, for a session that has ended, and for other methods', async () => {
      const { browser, page } = await signedIn()
      const { key } = await service.chat.keys.create(await service.chat.users.actor(ada.id), { name: 'nightly' })
      const byKey = await openBrowser(service.base_url).go(pathOf(), { headers: { authorization: `Bearer ${key}` } })
      expect(byKey.text).toContain('Sign in to see which one')
      // It ends what the user has connected, too.
      await service.chat.users.endSessions(OPERATOR, ada.id)
      const ended = await browser.submit(page, { started: 'yes', decision: 'allow' })
      expect(ended.text).toContain('Sign in to see which one')
      expect((await grants()).filter(({ user_id }) => user_id === ada.id)).toEqual([])
      const head = await browser.go(pathOf(), { method: 'HEAD' })
      expect([head.status, head.text]).toEqual([200, ''])
      const other = await browser.go(pathOf(), { method: 'PUT' })
      expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST'])
      const json = await browser.go('/chat/oauth/authorize', { method: 'POST', body: '{}' })
      expect(json.status).toBe(415)
    })
  },
)
