import { expect, it } from 'vitest'
import { folder } from '../cli/process.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { PLANTED, type Walked, walk } from './canary-walk.ts'

/** The places where each secret is issued, once. No other output may contain it. */
const SECRETS: { name: string; values: (walked: Walked) => string[]; shown?: string[] }[] = [
  ...Object.entries(PLANTED).map(([name, value]) => ({ name, values: () => [value] })),
  {
    name: 'session token',
    values: (walked) => walked.sessions,
    shown: ['POST /api/auth/login', 'POST /api/auth/refresh', 'POST /api/invites/accept'].map(headersOf),
  },
  {
    name: 'CSRF token',
    values: (walked) => walked.csrf_tokens,
    shown: [
      'POST /api/auth/login',
      'POST /api/auth/refresh',
      ...['POST /api/auth/login', 'POST /api/auth/refresh', 'POST /api/invites/accept'].map(headersOf),
    ],
  },
  {
    name: 'invite token',
    values: (walked) => walked.invites,
    shown: [
      'POST /api/conversations/{}/invites',
      'POST /api/conversations/{}/participants',
      'stdout of invite create --conversation {} --json',
    ],
  },
  {
    name: 'token of a known device',
    values: (walked) => walked.devices,
    shown: [headersOf('POST /api/auth/login')],
  },
  { name: 'API key of an account', values: (walked) => walked.keys, shown: ['POST /api/auth/keys'] },
  {
    name: 'token of a new password',
    values: (walked) => walked.resets,
    shown: ['stdout of user reset-link --email grace@example.org --json'],
  },
]

function headersOf(call: string): string {
  return `headers of ${call}`
}

describeOnEachDatabase('a secret', (openUrl, dialect) => {
  it('is in no response, log or file except where it is issued', { timeout: 240_000 }, async () => {
    const database = await openUrl()
    const env = {
      CHAT_DATABASE__URL: withPassword(database, dialect === 'postgresql'),
      CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
      CHAT_LOG__LEVEL: 'debug',
      CHAT_METRICS__TOKEN: PLANTED.metrics_token,
      CHAT_ASSISTANT__PROVIDER: 'openai',
      CHAT_ASSISTANT__MODEL: 'model',
      CHAT_ASSISTANT__API_KEY: PLANTED.api_key,
      CHAT_ASSISTANT__HEADERS: `X-Secret: ${PLANTED.header}`,
      CHAT_OAUTH__PROVIDER_A__CLIENT_ID: 'client',
      CHAT_OAUTH__PROVIDER_A__CLIENT_SECRET: PLANTED.client_secret,
      CHAT_OAUTH__PROVIDER_A__REDIRECT_URI: 'http://127.0.0.1/back',
      // Nothing listens at the discard port.
      CHAT_OAUTH__PROVIDER_A__AUTHORIZATION_URL: 'http://127.0.0.1:9/authorize',
      CHAT_OAUTH__PROVIDER_A__TOKEN_URL: 'http://127.0.0.1:9/token',
      CHAT_OAUTH__PROVIDER_A__USERINFO_URL: 'http://127.0.0.1:9/userinfo',
    }
    const walked = await walk({ cwd: folder(), env }, database)
    const said = walked.said.map(({ where, text }) => ({
      where: where.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '{}'),
      text,
    }))

    const found = SECRETS.map(({ name, values, shown = [] }) => {
      const all = values(walked)
      expect(all, name).not.toHaveLength(0)
      for (const value of all) expect(value.length, name).toBeGreaterThan(8)
      const places = said.filter(({ text }) => all.some((value) => holds(text, value))).map(({ where }) => where)
      return { name, shown: [...shown].sort(), places: [...new Set(places)].sort() }
    })
    for (const { name, shown, places } of found) expect(places, name).toEqual(shown)

    // The walk reached its targets: the service has answered, logged, counted and stored.
    const places = new Set(said.map(({ where }) => where))
    for (const place of [
      'stderr of serve',
      'GET /metrics',
      'GET /openapi.json',
      'GET /api/admin/audit',
      'table sessions',
    ])
      expect(places).toContain(place)
    expect(said.find(({ where }) => where === 'stderr of serve')!.text).toContain('An answer failed')
    expect(said.findLast(({ where }) => where === 'GET /metrics')!.text).toContain('# HELP')
  })
})

/** Also in base64 or URL encoding. */
function holds(text: string, secret: string): boolean {
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')].some((form) =>
    text.includes(form),
  )
}

/** The cluster of the tests requires no password, and accepts any. */
function withPassword(database: string, takesOne: boolean): string {
  if (!takesOne) return database
  const url = new URL(database)
  url.password = PLANTED.database_password
  return url.href
}
