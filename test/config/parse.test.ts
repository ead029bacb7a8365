import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { oauthProviders } from '../../lib/config/oauth.ts'
import { type Config, ConfigError, type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { configKeys, maskSecrets, nearestKey } from '../../lib/config/reference.ts'
import { generated } from '../support/generate-docs.ts'

const CLIENT = { client_id: 'id', client_secret: 'hunter2' }

describe('parseConfig', () => {
  it('fills in every default', () => {
    const config = parseConfig()
    expect(config).toEqual(parseConfig({}))
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 8080 })
    expect(config.session).toEqual({
      idle_seconds: 28_800,
      absolute_seconds: 604_800,
      session_cookie_name: 'SESSION_ID',
      csrf_cookie_name: 'CSRF-TOKEN',
      max_sessions_per_user: 5,
    })
    expect(config.security).toEqual({
      previous_secret_keys: [],
      cookie: { prefix: '', domain: '', secure: false, same_site: 'lax' },
      csrf: { enabled: true, cookie_name: 'CSRF-TOKEN', header_name: 'X-CSRF-TOKEN' },
      password: { bcrypt_cost: 12 },
    })
    // What follows from other keys.
    const derived: Record<string, unknown> = { 'oauth.manual_enabled': true }
    for (const { key, default: fallback } of configKeys())
      expect(at(config, key), key).toEqual(fallback ?? derived[key])
  })

  it('accepts any part of the schema and returns what it would accept again', () => {
    const input: ConfigInput = {
      server: { port: 0 },
      session: { csrf_cookie_name: 'XSRF', max_sessions_per_user: false },
    }
    const config = parseConfig(input)
    expect(config.server.port).toBe(0)
    expect(config.session.max_sessions_per_user).toBe(false)
    expect(parseConfig(config)).toEqual(config)
    expect(input).toEqual({
      server: { port: 0 },
      session: { csrf_cookie_name: 'XSRF', max_sessions_per_user: false },
    })
  })

  it.each([
    ['server.host', ''],
    ['server.port', -1],
    ['server.port', 65_536],
    ['server.port', 80.5],
    ['server.port', Number.NaN],
    ['server.port', '8080'],
    ['server.port', null],
    ['server.public_url', 'chat.example.org'],
    ['server.public_url', 'ftp://chat.example.org'],
    ['server.public_url', 'https://user:pw@chat.example.org'],
    ['server.public_url', 'https://chat.example.org/?a'],
    ['server.public_url', 'https://chat.example.org/#'],
    ['server.cors.allowed_origins', 'https://app.example.org'],
    ['server.cors.allowed_origins', [5]],
    ['server.cors.allowed_origins', ['app.example.org']],
    ['server.cors.allowed_origins', ['https://app.example.org/']],
    ['server.cors.allowed_origins', ['https://app.example.org/path']],
    ['server.cors.allowed_origins', ['https://app.example.org?a']],
    ['server.cors.allowed_origins', ['https://app.example.org#']],
    ['server.cors.allowed_origins', ['https://user@app.example.org']],
    ['server.cors.allowed_origins', ['https://*.example.org']],
    ['server.cors.allowed_origins', ['*']],
    ['server.cors.allowed_origins', ['null']],
    ['server.cors.allowed_origins', ['']],
    ['server.cors.allowed_origins', ['https://']],
    ['server.cors.allowed_origins', ['https://app.example.org:443']],
    ['server.cors.allowed_origins', ['http://app.example.org:80']],
    ['server.cors.allowed_origins', ['https://app.example.org:99999']],
    ['server.cors.allowed_origins', ['ws://app.example.org']],
    ['server.cors.allowed_origins', ['capacitor://localhost']],
    ['server.cors.allowed_origins', ['https://app.example.org https://other.example.org']],
    ['server.cors.allowed_origins', [' https://app.example.org']],
    ['server.cors.allowed_origins', ['https://b\u00FCcher.example']],
    ['server.cors.allowed_origins', ['https:app.example.org']],
    ['server.cors.allowed_origins', ['https://[::1']],
    ['server.cors.allowed_origins', ['http://127.1']],
    ['database.url', ''],
    ['database.url', 'sqlite:'],
    ['database.url', 'sqlite: '],
    ['database.url', 'sqlite://data/chat.db'],
    ['database.url', './data/chat.db'],
    ['database.url', 'mysql://root:pw@db/chat'],
    ['database.url', 'postgres://'],
    ['storage.durability', 'none'],
    ['storage.migrate', 'true'],
    ['features.auth_v1', 1],
    ['features.openai_compat', 'yes'],
    ['session.idle_seconds', 0],
    ['session.idle_seconds', -1],
    ['session.idle_seconds', 1e12],
    ['session.idle_seconds', '8h'],
    ['session.absolute_seconds', Number.POSITIVE_INFINITY],
    ['session.session_cookie_name', 'SESSION ID'],
    ['session.session_cookie_name', 'a;b'],
    ['session.session_cookie_name', 'a=b'],
    ['session.session_cookie_name', ''],
    ['session.max_sessions_per_user', 0],
    ['session.max_sessions_per_user', -5],
    ['session.max_sessions_per_user', true],
    ['session.max_sessions_per_user', 'none'],
    ['security.cookie.domain', 'example.org; Secure'],
    ['security.cookie.domain', 'https://example.org'],
    ['security.cookie.same_site', 'Lax'],
    ['security.csrf.enabled', 'no'],
    ['security.csrf.cookie_name', 'ü'],
    ['security.csrf.header_name', 'X CSRF'],
    ['security.csrf.header_name', 'X-CSRF:'],
    ['security.password.bcrypt_cost', 3],
    ['security.password.bcrypt_cost', 32],
    ['server.max_connections', 0],
    ['server.max_header_bytes', 2 ** 31],
    ['server.headers_timeout_seconds', 0],
    ['server.request_timeout_seconds', 2_147_484],
    ['server.keep_alive_timeout_seconds', 0],
    ['server.keep_alive_timeout_seconds', 2_147_484],
    ['server.drain_delay_seconds', -1],
    ['sse.heartbeat_seconds', 2_147_484],
    ['sse.max_buffer_bytes', 0],
    ['sse.max_streams_per_user', 0],
    ['limits.max_depth', 0],
    ['limits.message_bytes', 1_000_000],
    ['assistant.provider', 'ollama'],
    ['assistant.base_url', 'localhost:11434'],
    ['assistant.base_url', 'https://user:pw@models.example.org/v1'],
    ['assistant.api_key', ''],
    ['assistant.api_key', 'a key\n'],
    ['assistant.model', ''],
    ['assistant.system_prompt', 5],
    ['assistant.headers', 'X-Team: chat'],
    ['assistant.headers', {}],
    ['assistant.headers', [5]],
    ['assistant.headers', ['X-Team']],
    ['assistant.headers', ['X-Team:']],
    ['assistant.headers', [': chat']],
    ['assistant.headers', ['X Team: chat', 'X-Team: chat', 'wrong too']],
    ['assistant.headers', ['X-Team: chat\r\nX-Other: chat']],
    ['assistant.headers', ['X-Team: Zo\u00eb']],
    ['assistant.timeout_seconds', 0],
    ['assistant.context_bytes', 0],
    ['assistant.answer_bytes', 2 ** 30],
    ['oauth.manual_enabled', 'yes'],
    ['oauth.allow_signup', {}],
    ['oauth.google.token_hosts', ['https://token.example']],
    ['oauth.github.client_id', ''],
    ['oauth.github.client_secret', 5],
    ['oauth.github.redirect_uri', '/callback'],
    ['oauth.github.issuer', 'http://example.org'],
    ['oauth.github.issuer', 'https://example.org/?a'],
    ['oauth.github.authorization_url', 'javascript:alert(1)'],
    ['oauth.github.token_url', 'https://user:pw@example.org'],
    ['oauth.github.userinfo_url', 'http://127.0.0.1.evil.example'],
    ['oauth.github.scope', 'a  b'],
    ['metrics.token', ''],
    ['metrics.token', 12],
    ['log.level', 'trace'],
    ['log.format', ['json']],
  ])('refuses %s = %j and says nothing else', (key, value) => {
    expect(problemsOf(withKey(key, value))).toEqual([{ key, message: expect.stringMatching(/^(must|may) /) }])
  })

  it.each([
    ['server.port', 65_535],
    ['server.public_url', 'https://chat.example.org/base'],
    ['database.url', 'sqlite::memory:'],
    ['database.url', 'sqlite:/var/lib/chat.db'],
    ['database.url', 'sqlite:///var/lib/chat.db'],
    ['database.url', 'sqlite:C:\\chat\\my chat.db'],
    ['database.url', 'postgres://chat:p%40ss@db.example.org:5432/chat?sslmode=require'],
    ['database.url', 'postgresql:///chat?host=/var/run/postgresql'],
    ['security.cookie.domain', '.example.org'],
    ['session.max_sessions_per_user', 1],
    ['security.password.bcrypt_cost', 4],
    ['sse.heartbeat_seconds', 2_147_483],
    ['assistant.base_url', 'http://localhost:11434/v1/'],
    ['oauth.0-any_name.issuer', 'http://[::1]:8080/realms/chat'],
    ['oauth.provider_a.token_url', 'http://127.0.0.1:9/token?a=b'],
    ['oauth.provider_b.redirect_uri', 'http://intranet/callback'],
    ['assistant.system_prompt', 'Be brief.\nBe kind.'],
  ])('takes %s = %j', (key, value) => {
    expect(at(parseConfig(withKey(key, value)), key)).toBe(value)
  })

  it('accepts lists unchanged', () => {
    const headers = ['X-Team: chat', 'x-key:a:b', 'Accept: text/plain, */*']
    expect(parseConfig(withKey('assistant.headers', headers)).assistant.headers).toEqual(headers)
  })

  it('accepts origins in any case, and lowers it as browsers do', () => {
    const origins = [
      'https://App.Example.org',
      'http://localhost:5173',
      'https://[::1]:8443',
      'https://xn--bcher-kva.example',
    ]
    const config = parseConfig(withKey('server.cors.allowed_origins', origins))
    expect(config.server.cors.allowed_origins).toEqual(origins.map((origin) => origin.toLowerCase()))
    expect(parseConfig(config)).toEqual(config)
  })

  it.each([
    ['an id without a secret', { oauth: { a: { client_id: 'x' } } }, 'oauth.a.client_secret'],
    ['a secret without an id', { oauth: { a: { client_secret: 'x' } } }, 'oauth.a.client_id'],
    ['an unknown provider', { oauth: { a: { ...CLIENT, redirect_uri: 'https://x' } } }, 'oauth.a.issuer'],
    [
      'a provider with two addresses of three',
      {
        oauth: { a: { ...CLIENT, redirect_uri: 'https://x', authorization_url: 'https://x', token_url: 'https://x' } },
      },
      'oauth.a.userinfo_url',
    ],
    ['a provider with no way back', { oauth: { github: CLIENT } }, 'oauth.github.redirect_uri'],
    [
      'a scope without openid',
      { oauth: { google: { ...CLIENT, redirect_uri: 'https://x', scope: 'email' } } },
      'oauth.google.scope',
    ],
    ['openai without a model', { assistant: { provider: 'openai' } }, 'assistant.model'],
    ['headers longer than the request', { server: { headers_timeout_seconds: 31 } }, 'server.headers_timeout_seconds'],
    ['idle longer than absolute', { session: { idle_seconds: 61, absolute_seconds: 60 } }, 'session.idle_seconds'],
    ['one name for both cookies', { session: { session_cookie_name: 'CSRF-TOKEN' } }, 'session.session_cookie_name'],
    ['SameSite none without Secure', { security: { cookie: { same_site: 'none' } } }, 'security.cookie.same_site'],
    [
      'another cookie’s name',
      { security: { csrf: { cookie_name: 'SESSION_ID-DEVICE' } } },
      'security.csrf.cookie_name',
    ],
    ['another cookie’s name', { session: { session_cookie_name: 'OAUTH_BINDING' } }, 'session.session_cookie_name'],
    ['__Host- without Secure', { session: { session_cookie_name: '__Host-ID' } }, 'session.session_cookie_name'],
    ['__Secure- without Secure', { security: { csrf: { cookie_name: '__Secure-C' } } }, 'security.csrf.cookie_name'],
    [
      '__Host- with a domain',
      {
        session: { session_cookie_name: '__host-ID' },
        security: { cookie: { secure: true, domain: 'example.org' } },
      },
      'session.session_cookie_name',
    ],
    [
      '__Host- with a domain for the CSRF cookie',
      {
        session: { csrf_cookie_name: '__Host-CSRF' },
        security: { cookie: { secure: true, domain: '.example.org' } },
      },
      'security.csrf.cookie_name',
    ],
    [
      '__Host- without Secure in other letters',
      { session: { session_cookie_name: '__hOST-ID' } },
      'session.session_cookie_name',
    ],
    ['__Http- without Secure', { session: { session_cookie_name: '__Http-ID' } }, 'session.session_cookie_name'],
    [
      '__Http- for the cookie that scripts read',
      { security: { cookie: { secure: true }, csrf: { cookie_name: '__Http-CSRF' } } },
      'security.csrf.cookie_name',
    ],
    [
      '__Host-Http- for the cookie that scripts read',
      { security: { cookie: { secure: true }, csrf: { cookie_name: '__Host-Http-CSRF' } } },
      'security.csrf.cookie_name',
    ],
    [
      'one prefixed name for both cookies',
      {
        session: { session_cookie_name: '__Host-A', csrf_cookie_name: '__Host-A' },
        security: { cookie: { secure: true } },
      },
      'session.session_cookie_name',
    ],
    [
      'two names for the CSRF cookie',
      { session: { csrf_cookie_name: 'A' }, security: { csrf: { cookie_name: 'B' } } },
      'session.csrf_cookie_name',
    ],
  ])('refuses %s', (_, input, key) => {
    expect(problemsOf(input).map((problem) => problem.key)).toEqual([key])
  })

  it('refuses to take a node for dead before it can report twice', () => {
    const message = 'must be at least twice cluster.beat_seconds'
    expect(problemsOf({ cluster: { beat_seconds: 3, dead_seconds: 5 } })).toEqual([
      { key: 'cluster.dead_seconds', message },
    ])
    expect(parseConfig({ cluster: { beat_seconds: 3, dead_seconds: 6 } }).cluster.dead_seconds).toBe(6)
  })

  it.each([
    ['__Host-ID', '__Secure-CSRF', ''],
    ['__Host-Http-ID', '__Host-CSRF', ''],
    ['__Http-ID', '__Secure-CSRF', 'example.org'],
    ['__Secure-ID', 'CSRF', '.example.org'],
  ])('takes the names %s and %s with the domain %j, and SameSite none, with Secure', (id, csrf, domain) => {
    const cookie = { secure: true, same_site: 'none', domain } as const
    const session = { session_cookie_name: id, csrf_cookie_name: csrf }
    expect(parseConfig({ session, security: { cookie } }).security.csrf.cookie_name).toBe(csrf)
  })

  it.each([
    ['neither', {}, 'CSRF-TOKEN'],
    ['the old name', { session: { csrf_cookie_name: 'A' } }, 'A'],
    ['the new name', { security: { csrf: { cookie_name: 'B' } } }, 'B'],
    ['both alike', { session: { csrf_cookie_name: 'C' }, security: { csrf: { cookie_name: 'C' } } }, 'C'],
  ])('has one CSRF cookie when %s is set', (_, input, name) => {
    const config = parseConfig(input)
    expect([config.security.csrf.cookie_name, config.session.csrf_cookie_name]).toEqual([name, name])
  })

  it.each([
    [{ session: { idle_secnds: 1 } }, 'session.idle_secnds', 'session.idle_seconds'],
    [{ sesion: {} }, 'sesion', 'session'],
    [{ port: 1 }, 'port', 'server.port'],
    [{ session: { secure: true } }, 'session.secure', 'security.cookie.secure'],
    [{ security: { csrf_enabled: false } }, 'security.csrf_enabled', 'security.csrf.enabled'],
    [{ oauth: { gitlab: { client_secrt: 'x' } } }, 'oauth.gitlab.client_secrt', 'oauth.gitlab.client_secret'],
    [{ oauth: { allow_signups: true } }, 'oauth.allow_signups', 'oauth.allow_signup'],
    [{ client_secret: 'x' }, 'client_secret', 'oauth.<provider>.client_secret'],
  ])('refuses %j and names the nearest key', (input, key, nearest) => {
    expect(problemsOf(input)).toEqual([{ key, message: `unknown key, did you mean ${nearest}?` }])
  })

  it('says how a key with dots is written', () => {
    const message = 'write it as sections: { log: { level: … } }'
    expect(problemsOf({ 'log.level': 'warn' })).toEqual([{ key: 'log.level', message }])
  })

  it('reports all problems at once', () => {
    const problems = problemsOf({ server: { prt: 1, port: 'x' }, log: 5, wholly_unlike_anything: 1 })
    expect(problems).toEqual([
      { key: 'server.prt', message: 'unknown key, did you mean server.port?' },
      { key: 'log', message: 'must be a section with keys' },
      { key: 'wholly_unlike_anything', message: 'unknown key' },
      { key: 'server.port', message: 'must be a whole number from 0 to 65535' },
    ])
  })

  it.each([[null], [5], ['server'], [[]], [new Map()]])('refuses %j as a whole', (input) => {
    expect(problemsOf(input)).toEqual([{ key: '', message: 'must be an object' }])
  })

  it.each([
    [undefined, undefined, true],
    ['http://127.0.0.1:8080', undefined, true],
    ['https://chat.example.org', undefined, false],
    ['https://chat.example.org', true, true],
    [undefined, false, false],
  ])('accepts codes by hand, at %s with manual_enabled = %s: %s', (public_url, manual_enabled, expected) => {
    const config = parseConfig({ server: { public_url }, oauth: { manual_enabled } })
    expect(config.oauth.manual_enabled).toBe(expected)
  })

  it('accepts providers of any name, and has presets for some', () => {
    const issuer = 'https://id.example.org/'
    const oauth = {
      github: CLIENT,
      google: CLIENT,
      provider_a: { ...CLIENT, issuer, scope: 'openid' },
      later: { issuer },
    }
    const config = parseConfig({ server: { public_url: 'https://chat.example.org/base/' }, oauth })
    const known = oauthProviders(config)
    expect(known.map(({ name, issuer, scope }) => [name, issuer, scope])).toEqual([
      ['github', undefined, 'read:user user:email'],
      ['google', 'https://accounts.google.com', 'openid email profile'],
      ['provider_a', issuer, 'openid'],
    ])
    expect(known[0]).toMatchObject({
      redirect_uri: 'https://chat.example.org/base/api/oauth/github/callback',
      token_url: 'https://github.com/login/oauth/access_token',
    })
    expect(JSON.stringify(maskSecrets(config))).not.toContain('hunter2')
    expect(maskSecrets(config).oauth.github).toMatchObject({ client_id: 'id', client_secret: '********' })
  })

  it.each(['__proto__', 'constructor', 'prototype', 'GitHub', 'a.b', 'a b', '', 'x'.repeat(65)])(
    'accepts no provider with the name %j',
    (name) => {
      const input = JSON.parse(`{ "oauth": { ${JSON.stringify(name)}: { "client_id": "x" } } }`)
      expect(problemsOf(input)).toEqual([{ key: `oauth.${name}`, message: expect.stringMatching(/^unknown key/) }])
    },
  )

  it('refuses __proto__ as any other unknown key, and pollutes nothing', () => {
    const input = JSON.parse('{ "__proto__": { "port": 1 }, "server": { "__proto__": { "port": 2 } } }')
    expect(problemsOf(input).map((problem) => problem.key)).toEqual(['__proto__', 'server.__proto__'])
    expect(problemsOf({ constructor: {} })).toEqual([{ key: 'constructor', message: 'unknown key' }])
    expect('port' in {}).toBe(false)
    expect(problemsOf(Object.create({ server: { port: 1 } }))).toHaveLength(1)
  })

  it('never repeats a value that it refuses', () => {
    const input = {
      database: { url: 'mysql://root:hunter2@db' },
      assistant: { api_key: 'hunter2 ', headers: ['hunter2'] },
      metrics: { token: ['hunter2'] },
      log: 'hunter2',
    }
    const error = errorOf(input)
    expect(JSON.stringify([error.message, error.problems])).not.toContain('hunter2')
  })
})

describe('configKeys', () => {
  it('reads the schemas once: a start asks for each variable that is set', () => {
    expect(configKeys()).toBe(configKeys())
  })

  it('describes each key once, with a reason', () => {
    const keys = configKeys()
    expect(new Set(keys.map(({ key }) => key)).size).toBe(keys.length)
    for (const { key, description } of keys) expect(description, key).toMatch(/^\S.{10,}\.$/)
    expect(keys.find(({ key }) => key === 'session.idle_seconds')).toEqual({
      key: 'session.idle_seconds',
      type: 'integer',
      min: 1,
      max: 34_560_000,
      default: 28_800,
      unit: 'seconds',
      description: expect.any(String),
      secret: false,
      reload: false,
    })
    expect(keys.find(({ key }) => key === 'assistant.headers')).toMatchObject({
      type: 'list',
      default: [],
      secret: 'header',
    })
    expect(keys.find(({ key }) => key === 'audit.retention_days')).toMatchObject({ min: 1, max: 36_500 })
    expect(keys.find(({ key }) => key === 'backup.passphrase')).toMatchObject({ min: 12, max: 1024 })
    expect(keys.find(({ key }) => key === 'oauth.<provider>.title')).toMatchObject({ min: 1, max: 60 })
    expect(keys.find(({ key }) => key === 'log.format')?.choices).toEqual(['auto', 'json', 'pretty'])
  })

  it('equals the committed documentation', async () => {
    const files = await generated()
    for (const [path, text] of Object.entries(files)) {
      const committed = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
      expect(committed, `${path} is old, run: npm run docs`).toBe(text)
    }
  })
})

describe('nearestKey', () => {
  it.each([
    ['sesion.idle_seconds', 'session.idle_seconds'],
    ['session.idle', undefined],
    ['database', 'database'],
    ['x'.repeat(100_000), undefined],
  ])('of %s is %s', (key, nearest) => {
    expect(nearestKey(key)).toBe(nearest)
  })
})

describe('maskSecrets', () => {
  it.each([
    ['sqlite:./data/chat.db', 'sqlite:./data/chat.db'],
    ['postgres://db:5432/chat', 'postgres://db:5432/chat'],
    ['postgres://chat@db/chat', 'postgres://chat@db/chat'],
    ['postgres://chat:hunter2@db/chat', 'postgres://chat:********@db/chat'],
    ['postgresql://chat:hun@t/er:2?@[::1]:5432/chat', 'postgresql://chat:********@[::1]:5432/chat'],
    ['postgres:///chat?password=hunter2&host=/tmp', 'postgres:///chat?password=********&host=/tmp'],
  ])('shows %s as %s', (url, masked) => {
    expect(maskSecrets(parseConfig({ database: { url } })).database.url).toBe(masked)
  })

  it('hides a secret that is not a URL as a whole, and does not change the configuration', () => {
    const config = parseConfig({ metrics: { token: 'a:b@c' } })
    expect(maskSecrets(config)).toEqual({ ...config, metrics: { token: '********', previous_tokens: [] } })
    expect(config.metrics.token).toBe('a:b@c')
    expect(maskSecrets(parseConfig()).metrics).toEqual({ previous_tokens: [] })
    const former = parseConfig({ metrics: { token: 'a', previous_tokens: ['hunter2'] } })
    expect(maskSecrets(former).metrics.previous_tokens).toEqual(['********'])
  })

  it('hides all of a header but its name, in a valid header', () => {
    const headers = ['X-Key: hunter2', 'Authorization:Bearer hunter2: 2']
    const { assistant } = maskSecrets(parseConfig({ assistant: { headers, api_key: 'hunter2' } }))
    expect(assistant.headers).toEqual(['X-Key: ********', 'Authorization: ********'])
    expect(assistant.api_key).toBe('********')
    expect(parseConfig({ assistant })).toMatchObject({ assistant })
  })
})

function errorOf(input: unknown): ConfigError {
  try {
    parseConfig(input as ConfigInput)
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
  throw new Error('It was accepted.')
}

function problemsOf(input: unknown) {
  return errorOf(input).problems
}

function withKey(key: string, value: unknown): ConfigInput {
  return key.split('.').reduceRight((inner, name) => ({ [name]: inner }), value) as ConfigInput
}

function at(config: Config, key: string): unknown {
  return key.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], config)
}
