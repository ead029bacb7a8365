import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { folder } from '../../cli/process.ts'
import { serve } from '../../cli/serving.ts'

const PYTHON = process.env.PYJWT_PYTHON ?? 'python3'
const PROGRAM = fileURLToPath(new URL('sign.py', import.meta.url))
const SECRET = 'a secret of at least thirty-two bytes'
const CLAIMS = { iss: 'https://shop.example.org', aud: 'chat', sub: 'customer/42', name: 'Ada Lovelace' }

/** Why the program cannot run here, if it cannot. */
function findObstacle(): string | undefined {
  const { status } = spawnSync(PYTHON, ['-c', 'import jwt, cryptography'])
  if (status === 0) return undefined
  return status === null
    ? 'needs Python'
    : 'needs a Python with PyJWT: pip install pyjwt cryptography, or its path as PYJWT_PYTHON'
}

/** Tokens by their names: the algorithm, and what is claimed beside or in place of the usual. */
type Wanted = Record<string, [algorithm: string, claims?: Record<string, unknown>]>

async function sign(wanted: Wanted): Promise<{ jwks: object; tokens: Record<string, string> }> {
  const tokens = Object.fromEntries(
    Object.entries(wanted).map(([name, [algorithm, claims = {}]]) => [name, [algorithm, claims]]),
  )
  const argument = JSON.stringify({ claims: CLAIMS, secret: SECRET, tokens })
  const { stdout } = await promisify(execFile)(PYTHON, [PROGRAM, argument], { timeout: 60_000 })
  return JSON.parse(stdout)
}

/** What `serve` with these settings answers each token: the name of its user, or why it is refused. */
async function answersTo(settings: string, tokens: Record<string, string>): Promise<Record<string, unknown>> {
  const config = `[auth.jwt]\nissuer = "${CLAIMS.iss}"\naudience = "chat"\n${settings}\n`
  const cwd = folder({ 'chat-server.toml': config })
  const env = { CHAT_DATABASE__URL: 'sqlite:chat.db' }
  const { url, child, end } = await serve({ cwd, env }, '--config', 'chat-server.toml')
  const answers: Record<string, unknown> = {}
  for (const [name, token] of Object.entries(tokens)) {
    const response = await fetch(`${url}/api/auth/me`, { headers: { authorization: `Bearer ${token}` } })
    const { user, code } = (await response.json()) as { user?: { display_name: string }; code?: string }
    answers[name] = user?.display_name ?? code
  }
  child.kill('SIGTERM')
  await end
  return answers
}

it('tokens that PyJWT signs with keys at a URL are taken by `serve`, and no others', async ({ skip }) => {
  const obstacle = findObstacle()
  if (obstacle) skip(obstacle)
  const { jwks, tokens } = await sign({
    RS256: ['RS256'],
    PS256: ['PS256'],
    ES256: ['ES256', { name: 'Ada L.', iat: '1', exp: '600' }],
    EdDSA: ['EdDSA', { sub: 'grace', name: 'Grace Hopper' }],
    'several audiences': ['RS256', { aud: ['shop', 'chat'], sub: 'zoe', name: 'Zoë' }],
    'another key': ['ES256'],
    'no signature': ['none'],
    'the secret in place of a key': ['HS256'],
    'another audience': ['RS256', { aud: 'shop' }],
    'another issuer': ['RS256', { iss: 'https://eve.example.org' }],
    'no subject': ['RS256', { sub: null }],
    'no end': ['RS256', { exp: null }],
    'no beginning': ['RS256', { iat: null }],
    'too long': ['RS256', { exp: '86401' }],
    expired: ['RS256', { iat: '-700', exp: '-60' }],
    'not yet': ['RS256', { nbf: 4_000_000_000 }],
  })
  const server = createServer((_, response) => response.end(JSON.stringify(jwks))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const answers = await answersTo(`jwks_url = "http://127.0.0.1:${port}/keys"`, tokens)
  const refused = Object.keys(tokens).slice(5)
  expect(answers).toEqual({
    ...{ RS256: 'Ada Lovelace', PS256: 'Ada Lovelace', ES256: 'Ada L.', EdDSA: 'Grace Hopper' },
    'several audiences': 'Zoë',
    ...Object.fromEntries(refused.map((name) => [name, 'unauthenticated'])),
    expired: 'session_expired',
  })
})

it('tokens that PyJWT signs with a shared secret are taken by `serve`', async ({ skip }) => {
  const obstacle = findObstacle()
  if (obstacle) skip(obstacle)
  const { tokens } = await sign({
    ...Object.fromEntries(['HS256', 'HS384', 'HS512'].map((each) => [each, [each] as [string]])),
    'a key in place of the secret': ['RS256'],
  })
  const answers = await answersTo(`secret = "${SECRET}"`, tokens)
  expect(answers).toEqual({
    HS256: 'Ada Lovelace',
    HS384: 'Ada Lovelace',
    HS512: 'Ada Lovelace',
    'a key in place of the secret': 'unauthenticated',
  })
})
