import { describe, expect, it } from 'vitest'
import { newWebhookSecret, publicKeyOf, signCall } from '../../lib/integrations/webhooks/signing.ts'
import { verifyWebhook } from '../../lib/receive/index.ts'
import { eventOf, PUBLIC_KEY, SECRET, type Signing, signedHeaders } from './stores.ts'

const BODY = JSON.stringify(eventOf(1))
const seconds = (past: number) => Math.floor(Date.now() / 1000) - past
const signed = (signing?: Signing) => ({ body: BODY, headers: signedHeaders(BODY, signing) })
const OTHER = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

function codeOf(call: object): string | undefined {
  try {
    verifyWebhook({ secrets: SECRET, ...call } as never)
  } catch (error) {
    return (error as { code: string }).code
  }
  return undefined
}

describe('verifyWebhook', () => {
  it.each<[string, object]>([
    ['a secret', signed()],
    ['headers of fetch', { ...signed(), headers: new Headers(signed().headers) }],
    ['bytes', { ...signed(), body: Buffer.from(BODY) }],
    ['one of two secrets', { ...signed(), secrets: [OTHER, SECRET] }],
    ['one of two signatures', { body: BODY, headers: both() }],
    ['a public key', { ...signed({ scheme: 'v1a' }), secrets: undefined, public_keys: [PUBLIC_KEY] }],
    ['a clock that is a little ahead', signed({ timestamp: seconds(-200) })],
    ['an old call where it may be', { ...signed({ timestamp: seconds(900) }), tolerance_seconds: 1000 }],
  ])('takes a call with %s', (_name, call) => {
    expect(verifyWebhook({ secrets: SECRET, ...call } as never)).toEqual(eventOf(1))
  })

  it.each<[string, string, object]>([
    ['signature', 'another secret', signed({ secret: OTHER })],
    ['signature', 'another body', { ...signed(), body: BODY.replace('evt_1', 'evt_2') }],
    ['signature', 'another id', { body: BODY, headers: { ...signed().headers, 'webhook-id': 'evt_1_2' } }],
    ['signature', 'no signature', { body: BODY, headers: { ...signed().headers, 'webhook-signature': '' } }],
    ['signature', 'no headers', { body: BODY, headers: {} }],
    ['signature', 'the signature of a key for a secret', signed({ scheme: 'v1a' })],
    ['signature', 'a secret in place of a key', { ...signed(), secrets: undefined, public_keys: PUBLIC_KEY }],
    [
      'signature',
      'a short signature',
      { body: BODY, headers: { ...signed().headers, 'webhook-signature': 'v1,AAAA' } },
    ],
    ['signature', 'another timestamp', { body: BODY, headers: { ...signed().headers, 'webhook-timestamp': '1' } }],
    ['timestamp', 'an old call', signed({ timestamp: seconds(400) })],
    ['timestamp', 'a call from later', signed({ timestamp: seconds(-400) })],
    ['timestamp', 'a timestamp that is none', signed({ timestamp: 'now' })],
    ['malformed', 'a body that is no JSON', { body: '{', headers: signedHeaders('{', { id: 'evt_1_1' }) }],
    ['malformed', 'a body that is no event', { body: '[]', headers: signedHeaders('[]', { id: 'evt_1_1' }) }],
    ['malformed', 'an event with another id', { body: BODY, headers: signedHeaders(BODY, { id: 'evt_1_2' }) }],
    ['malformed', 'a parsed body', { ...signed(), body: JSON.parse(BODY) }],
    ['malformed', 'no body', { ...signed(), body: undefined }],
  ])('throws %s for %s', (code, _name, call) => {
    expect(codeOf(call)).toBe(code)
  })

  it.each(['v1', 'v1a'] as const)('takes what the service signs by %s', (scheme) => {
    const secret = newWebhookSecret(scheme)
    const timestamp = seconds(0)
    const id = eventOf(1).id
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signCall({ id, timestamp, body: BODY }, [secret, newWebhookSecret(scheme)]),
    }
    const keys = scheme === 'v1' ? { secrets: secret } : { public_keys: publicKeyOf(secret)! }
    expect(verifyWebhook({ ...keys, headers, body: BODY }).id).toBe(id)
  })

  it('names the line to change for a body that was parsed before', () => {
    expect(() => verifyWebhook({ secrets: SECRET, ...signed(), body: {} as never })).toThrow(
      /before app\.use\(express\.json\(\)\).*bodyParser: false/,
    )
  })
})

function both(): Record<string, string> {
  const [ours, theirs] = [signed().headers, signed({ secret: OTHER }).headers]
  return { ...ours, 'webhook-signature': `${theirs['webhook-signature']} ${ours['webhook-signature']}` }
}
