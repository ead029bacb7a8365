import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mailProblems, smtpSettings } from '../../lib/config/mail.ts'
import { oauthProviders } from '../../lib/config/oauth.ts'
import { type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { configKeys, findKey } from '../../lib/config/reference.ts'
import { planReload } from '../../lib/config/reload.ts'
import { SERVICE_RIGHTS } from '../../lib/core/access.ts'
import { deriveKey } from '../../lib/core/signed-text.ts'
import { ConfigError } from '../../lib/index.ts'
import { setUpService } from '../support/describe-service.ts'
import { innerState, startService, type TestService, times } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

const ORIGIN = 'https://app.example.org'
const lines: [message: string, fields: unknown][] = []
const log = {
  debug: (message: string, fields: unknown) => void lines.push([message, fields]),
  info: (message: string, fields: unknown) => void lines.push([message, fields]),
  warn() {},
  error() {},
}

const OWN = {
  client_id: 'first',
  client_secret: 'secret',
  redirect_uri: 'http://localhost/callback',
  authorization_url: 'http://localhost/authorize',
  token_url: 'http://localhost/token',
  userinfo_url: 'http://localhost/me',
}

const BASE: ConfigInput = {
  security: { password: { bcrypt_cost: 4 } },
  rate_limits: {
    default_rps: 1000,
    burst: 1000,
    auth_login_per_ip_per_min: 10_000,
    auth_failures_per_ip_per_min: 10_000,
  },
  features: { well_known: true },
  bots: { enabled: true },
  hooks: { enabled: true },
  webhooks: { enabled: true },
  well_known: { entries: { 'old.txt': 'old' } },
  assistant: { max_running: 100, max_running_per_user: 3, drain_seconds: 0 },
  search: { budget_ms: 500 },
  oauth: { own: OWN },
  mail: { smtp: { url: 'smtp://127.0.0.1:1', from: 'chat@example.org' } },
}

const service = setUpService(() => startService('sqlite::memory:', { config: BASE, ports: { log } }))
let person: Awaited<ReturnType<TestService['signIn']>>
let conversation_id: string
beforeAll(async () => {
  person = await service.signIn('ada')
  conversation_id = (await person.conversations.create()).conversation_id
})

/** The base with other values: sections are merged. */
function withInput(changes: object, base: object = BASE): ConfigInput {
  const merge = (one: unknown, other: unknown): unknown =>
    typeof one === 'object' && one && typeof other === 'object' && other && !Array.isArray(other)
      ? Object.fromEntries(
          [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => {
            const [a, b] = [(one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]]
            return [name, name in other ? merge(a, b) : a]
          }),
        )
      : other
  return merge(base, changes) as ConfigInput
}

const header = async (name: string, init: RequestInit = {}, path = '/api/setup') =>
  (await fetch(service.base_url + path, init)).headers.get(name)
const statusOf = async (path: string, init: RequestInit = {}) => (await fetch(service.base_url + path, init)).status
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (error) => error.code as string,
  )
const post = async (content: string) => (await person.messages.postRoot(conversation_id, { content })).message_id
// Each as another account: the failures of one are counted, too.
let attempts = 0
const wrongSignIn = () =>
  statusOf('/api/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: `eve${attempts++}@example.org`, password: 'wrong password' }),
  })
const isLimited = async (work: () => Promise<number>) => {
  for (let i = 0; i < 4; i++) if ((await work()) === 429) return true
  return false
}
const provider = () => oauthProviders(innerState(service).config).find(({ name }) => name === 'own')
const smtp = () => smtpSettings(innerState(service).config)
const isCallable = (url: string) => innerState(service).outgoing.isCallable(url)
const KEY = Buffer.alloc(32, 'k').toString('base64')
const takes = async (key: string) => {
  const keys = await innerState(service).keyring.signing('test')
  return keys.some((each) => Buffer.from(each).equals(deriveKey(Buffer.from(key, 'base64'), 'test')))
}
const PRICE = { model: 'm', input: 1, output: 2 }
const oauthOwn = (changes: object) => ({ oauth: { own: changes } })

/** For every key that can be reloaded: another value, and what shows that it is in effect. */
const SHOWN: Record<string, [change: object, show: () => unknown, after: unknown]> = {
  // The caller is an administrator: of the audiences only nobody leaves administrators out.
  ...Object.fromEntries(
    SERVICE_RIGHTS.map((right) => [
      `access.${right}`,
      [{ access: { [right]: 'nobody' } }, async () => (await person.auth.me()).can[right], undefined],
    ]),
  ),
  'access.roles': [
    { access: { roles: { sales: { upload: true } } } },
    async () => (await person.capabilities.get()).access.roles.includes('sales'),
    true,
  ],
  'access.participant_roles': [
    { access: { participant_roles: { helper: { rights: ['react'] } } } },
    async () =>
      (await person.capabilities.get()).access.participant_roles.find(({ name }) => name === 'helper')?.rights,
    ['react'],
  ],
  prices: [{ prices: [PRICE] }, () => innerState(service).config.prices, [PRICE]],
  'usage.currency': [{ usage: { currency: 'EUR' } }, async () => (await person.usage.get()).currency, 'EUR'],
  'usage.reserve_tokens': [{ usage: { reserve_tokens: 1 } }, () => innerState(service).config.usage.reserve_tokens, 1],
  'usage.quotas': [
    { usage: { quotas: [{ role: '*', period: 'day', answers: 7 }] } },
    async () => (await person.usage.get()).periods[0]!.limits,
    { answers: 7 },
  ],
  'server.cors.allowed_origins': [
    { server: { cors: { allowed_origins: [ORIGIN] } } },
    () => header('access-control-allow-origin', { headers: { origin: ORIGIN } }),
    ORIGIN,
  ],
  'server.cors.token_origins': [
    { server: { cors: { token_origins: ['*'] } } },
    () => header('access-control-allow-origin', { headers: { origin: ORIGIN, authorization: 'Bearer x' } }),
    ORIGIN,
  ],
  'rate_limits.default_rps': [{ rate_limits: { default_rps: 0 } }, () => header('ratelimit-limit'), null],
  'rate_limits.burst': [{ rate_limits: { burst: 77 } }, () => header('ratelimit-limit'), '77'],
  'rate_limits.auth_login_per_ip_per_min': [
    { rate_limits: { auth_login_per_ip_per_min: 1 } },
    () => isLimited(wrongSignIn),
    true,
  ],
  'rate_limits.auth_failures_per_ip_per_min': [
    { rate_limits: { auth_failures_per_ip_per_min: 1 } },
    () => isLimited(() => statusOf('/api/auth/me', { headers: { authorization: 'Bearer wrong' } })),
    true,
  ],
  'conversations.default_layout': [
    { conversations: { default_layout: 'assistant' } },
    async () => (await person.conversations.create({})).conversation.layout,
    'assistant',
  ],
  'limits.max_depth': [
    { limits: { max_depth: 1 } },
    async () => {
      const first = await person.messages.reply(await post('root'), { content: 'one' })
      return codeOf(person.messages.reply(first.message.id, { content: 'two' }))
    },
    'thread_too_deep',
  ],
  'limits.message_bytes': [{ limits: { message_bytes: 3 } }, () => codeOf(post('four')), 'validation_failed'],
  'limits.revisions_per_message': [
    { limits: { revisions_per_message: 1 } },
    async () => {
      const id = await post('first')
      for (const content of ['second', 'third', 'fourth']) await person.messages.edit(id, { content })
      return (await person.messages.listRevisions(id)).revisions.length
    },
    1,
  ],
  'limits.reactions_per_message': [
    { limits: { reactions_per_message: 1 } },
    async () => {
      const id = await post('liked')
      await person.reactions.add(id, '👍')
      return codeOf(person.reactions.add(id, '🎉'))
    },
    'conflict',
  ],
  'limits.mention_all': [
    { limits: { mention_all: 0 } },
    async () => (await person.messages.get(await post('Hello @all'))).mentions === undefined,
    true,
  ],
  'limits.pins': [
    { limits: { pins: 1 } },
    async () => {
      const ids = [await post('important'), await post('as important')] as const
      await person.pins.add(ids[0])
      const code = await person.pins.add(ids[1]).then(
        () => 'pinned',
        (error) => error.code,
      )
      for (const id of ids) await person.pins.remove(id)
      return code
    },
    'conflict',
  ],
  'setup.code': [
    { setup: { code: 'secret' } },
    async () => {
      const fresh = await startService('sqlite::memory:', { config: BASE })
      await fresh.chat.reload(innerState(service).settings.current())
      const response = await fetch(`${fresh.base_url}/api/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse battery' }),
      })
      await fresh.close()
      return response.status
    },
    403,
  ],
  'metrics.token': [{ metrics: { token: 'secret' } }, () => statusOf('/metrics'), 401],
  'well_known.entries': [
    { well_known: { entries: { 'new.txt': 'new' } } },
    () => statusOf('/.well-known/new.txt'),
    200,
  ],
  'log.requests': [
    { log: { requests: 'all' } },
    async () => {
      lines.length = 0
      await statusOf('/api/setup')
      await new Promise((resolve) => setImmediate(resolve))
      return lines.some(([message]) => message === 'request')
    },
    true,
  ],
  // What it changes is the log of `serve`: test/cli/commands/reload.test.ts.
  'log.level': [{ log: { level: 'debug' } }, () => innerState(service).config.log.level, 'debug'],
  'mail.smtp.url': [{ mail: { smtp: { url: 'smtp://127.0.0.1:2' } } }, () => smtp()?.port, 2],
  'mail.smtp.from': [{ mail: { smtp: { from: 'new@example.org' } } }, () => smtp()?.from, 'new@example.org'],
  'mail.smtp.reply_to': [
    { mail: { smtp: { reply_to: 'new@example.org' } } },
    () => smtp()?.reply_to,
    'new@example.org',
  ],
  'mail.smtp.timeout_seconds': [{ mail: { smtp: { timeout_seconds: 9 } } }, () => smtp()?.timeout_seconds, 9],
  'security.secret_key': [{ security: { secret_key: KEY } }, () => takes(KEY), true],
  'security.previous_secret_keys': [{ security: { previous_secret_keys: [KEY] } }, () => takes(KEY), true],
  'webhooks.trusted_hosts': [
    { webhooks: { trusted_hosts: ['a.test'] } },
    () => innerState(service).config.webhooks.trusted_hosts,
    ['a.test'],
  ],
  'outgoing.allow_http': [{ outgoing: { allow_http: true } }, () => isCallable('http://a.test:443'), true],
  'outgoing.allowed_networks': [
    { outgoing: { allowed_networks: ['10.0.0.0/8'] } },
    () => isCallable('https://10.0.0.1'),
    true,
  ],
  'outgoing.allowed_ports': [{ outgoing: { allowed_ports: [8443] } }, () => isCallable('https://a.test:8443'), true],
  'outgoing.proxy': [
    { outgoing: { proxy: 'http://127.0.0.1:2' } },
    () => innerState(service).config.outgoing.proxy,
    'http://127.0.0.1:2',
  ],
  'oauth.manual_enabled': [
    { oauth: { manual_enabled: false } },
    () => innerState(service).config.oauth.manual_enabled,
    false,
  ],
  'oauth.allow_signup': [
    { oauth: { allow_signup: false } },
    () => innerState(service).config.oauth.allow_signup,
    false,
  ],
  'oauth.link_verified_email': [
    { oauth: { link_verified_email: true } },
    () => innerState(service).config.oauth.link_verified_email,
    true,
  ],
  'oauth.<provider>.client_id': [
    oauthOwn({ client_id: 'second' }),
    async () => {
      const attempt = { state: 's', verifier: 'v'.repeat(43), nonce: 'n' }
      const url = await innerState(service).accounts.providers.get('own')!.authorizationUrl(attempt)
      return new URL(url).searchParams.get('client_id')
    },
    'second',
  ],
  ...Object.fromEntries(
    (['authorization_url', 'token_url', 'userinfo_url', 'redirect_uri', 'issuer'] as const).map((name) => [
      `oauth.<provider>.${name}`,
      [oauthOwn({ [name]: 'http://localhost/new' }), () => provider()?.[name], 'http://localhost/new'],
    ]),
  ),
  'oauth.<provider>.client_secret': [oauthOwn({ client_secret: 'new' }), () => provider()?.client_secret, 'new'],
  'oauth.<provider>.scope': [oauthOwn({ scope: 'openid new' }), () => provider()?.scope, 'openid new'],
  'oauth.<provider>.token_hosts': [
    oauthOwn({ token_hosts: ['new.example.org'] }),
    () => provider()?.token_hosts,
    ['new.example.org'],
  ],
}

describe('a reload', () => {
  // Whatever a failed test has left.
  beforeEach(async () => void (await service.chat.reload(parseConfig(BASE))))
  const reloadable = configKeys().filter(({ reload }) => reload)

  it('has a test for each key that can be reloaded', () => {
    const others = reloadable.map(({ key }) => key).filter((key) => !(key in SHOWN))
    // A key of a new capability: show it above, or show it in its own tests and say so in its description.
    expect(others.filter((key) => !/^(oauth|mail|backup|database)\.|^metrics\.previous_tokens$/.test(key))).toEqual([])
    expect(Object.keys(SHOWN).filter((key) => !reloadable.some((each) => each.key === key))).toEqual([])
  })

  it.each(Object.keys(SHOWN))('puts %s into effect, and back', async (key) => {
    const [change, show, after] = SHOWN[key]!
    const before = await show()
    expect(before).not.toEqual(after)
    const named = key.replace('<provider>', 'own')
    expect(await service.chat.reload(parseConfig(withInput(change)))).toEqual({ changed: [named], needs_restart: [] })
    expect(await show()).toEqual(after)
    expect(await service.chat.reload(parseConfig(BASE))).toEqual({ changed: [named], needs_restart: [] })
    expect(await show()).toEqual(before)
  })

  it('names the keys that need a restart, and leaves them as they were', async () => {
    const before = structuredClone(innerState(service).settings.current())
    const change = {
      server: { port: 9999 },
      database: { pool_size: 3 },
      session: { idle_seconds: 60 },
      assistant: { system_prompt: 'x' },
    }
    const wanted = parseConfig(withInput(change))
    expect(await service.chat.reload(wanted)).toEqual({
      changed: [],
      needs_restart: ['server.port', 'database.pool_size', 'session.idle_seconds', 'assistant.system_prompt'],
    })
    expect(innerState(service).config).toEqual(before)
  })

  it('adds a provider and removes another, and keeps one that stays with what it knows', async () => {
    const context = innerState(service)
    const own = context.accounts.providers.get('own')
    const other = { ...OWN, client_id: 'other' }
    await service.chat.reload(parseConfig(withInput({ oauth: { other } })))
    expect([...context.accounts.providers.keys()]).toEqual(['own', 'other'])
    expect(context.accounts.providers.get('own')).toBe(own)
    await service.chat.reload(parseConfig({ ...BASE, oauth: { other } }))
    expect([...context.accounts.providers.keys()]).toEqual(['other'])
    await service.chat.reload(parseConfig(BASE))
    expect([...context.accounts.providers.keys()]).toEqual(['own'])
  })

  it('switches mail off and on', async () => {
    const { mail: _, ...without } = BASE
    await service.chat.reload(parseConfig(without))
    expect([innerState(service).mail.outbox, mailProblems(innerState(service).config)]).toEqual([undefined, []])
    await service.chat.reload(parseConfig(BASE))
    expect(innerState(service).mail.outbox).toBeDefined()
  })

  it('changes nothing if one key contradicts a key that stays', async () => {
    const before = innerState(service).settings.current()
    const { redirect_uri: _, ...rest } = OWN
    // The public URL, from which the provider would take its own, needs a restart.
    const wanted = parseConfig({
      ...withInput({ server: { public_url: 'https://chat.example.org' }, limits: { max_depth: 7 } }),
      oauth: { own: rest },
    })
    const refused = service.chat.reload(wanted)
    await expect(refused).rejects.toBeInstanceOf(ConfigError)
    await expect(refused).rejects.toThrow('oauth.own.redirect_uri')
    expect(innerState(service).settings.current()).toBe(before)
  })

  it('updates what clients read about the limits', async () => {
    const document = async () => (await fetch(`${service.base_url}/openapi.json`)).text()
    const before = await document()
    await service.chat.reload(parseConfig(withInput({ limits: { message_bytes: 1234 } })))
    expect(await document()).not.toBe(before)
    await service.chat.reload(parseConfig(BASE))
    expect(await document()).toBe(before)
  })

  it('fails no request and ends no stream while it happens again and again', async () => {
    const headers = await signInByHand(service.base_url, person.email, 'correct horse battery')
    const reading = new AbortController()
    const stream = await fetch(`${service.base_url}/api/stream/conversations/${conversation_id}`, {
      headers: { cookie: headers.cookie },
      signal: reading.signal,
    })
    const configs = [
      parseConfig(BASE),
      parseConfig(withInput({ limits: { max_depth: 50 }, metrics: { token: 'x' }, log: { requests: 'none' } })),
    ]
    let isOver = false
    const reloading = (async () => {
      for (let i = 0; !isOver; i++) {
        await service.chat.reload(configs[i % 2]!)
        await new Promise((resolve) => setImmediate(resolve))
      }
      return true
    })()
    const posted = await Promise.all(
      times(8, async () => {
        for (let i = 0; i < 10; i++) await post('hello')
        return 10
      }),
    )
    isOver = true
    expect(await reloading).toBe(true)
    expect(posted.reduce((sum, count) => sum + count)).toBe(80)
    expect(stream.status).toBe(200)
    reading.abort()
    await service.chat.reload(parseConfig(BASE))
  })
})

it('the sections that a reload does not change stay the same objects', () => {
  const current = parseConfig(BASE)
  const { next, changed } = planReload(
    current,
    parseConfig(withInput({ limits: { max_depth: 3 }, server: { port: 1 } })),
  )
  expect(changed).toEqual(['limits.max_depth'])
  expect([next.server, next.oauth, next.mail]).toEqual([current.server, current.oauth, current.mail])
  expect([next.server === current.server, next.oauth === current.oauth]).toEqual([true, true])
  expect(findKey('limits.max_depth')).toMatchObject({ reload: true })
})
