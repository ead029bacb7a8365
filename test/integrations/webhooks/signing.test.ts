import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { newWebhookSecret, publicKeyOf, signCall } from '../../../lib/integrations/webhooks/signing.ts'
import { hasOpenssl } from '../../outgoing/outgoing.ts'

const CALL = { id: 'evt_1', timestamp: 1_700_000_000, body: '{"type":"message.new","data":{"text":"grüße"}}' }

it('signs as the example of Standard Webhooks is signed', () => {
  const call = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body: '{"test": 2432232314}' }
  expect(signCall(call, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'])).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

it('makes secrets of 32 random bytes', () => {
  for (const scheme of ['v1', 'v1a'] as const) {
    const secrets = [newWebhookSecret(scheme), newWebhookSecret(scheme)]
    expect(new Set(secrets).size).toBe(2)
    for (const secret of secrets) expect(Buffer.from(secret.split('_')[1]!, 'base64')).toHaveLength(32)
  }
})

it('signs with each of several secrets, the present one first', () => {
  const secrets = [newWebhookSecret('v1'), newWebhookSecret('v1')]
  const expected = secrets.map((secret) => {
    const hmac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    return `v1,${hmac.update(`evt_1.1700000000.${CALL.body}`).digest('base64')}`
  })
  expect(signCall(CALL, secrets)).toBe(expected.join(' '))
})

it.skipIf(!hasOpenssl)('signs with a private key what openssl verifies by the public one', () => {
  const secret = newWebhookSecret('v1a')
  const folder = mkdtempSync(join(tmpdir(), 'chat-signing-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [, signature = ''] = /^v1a,(\S+)$/.exec(signCall(CALL, [secret])) ?? []
  const raw = Buffer.from(publicKeyOf(secret)!.replace(/^whpk_/, ''), 'base64')
  expect(raw).toHaveLength(32)
  const verify = (body: string) => {
    writeFileSync(join(folder, 'key.der'), Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]))
    writeFileSync(join(folder, 'signature'), Buffer.from(signature, 'base64'))
    writeFileSync(join(folder, 'content'), `${CALL.id}.${CALL.timestamp}.${body}`)
    const keys = ['-pubin', '-keyform', 'DER', '-inkey', 'key.der']
    const files = ['-rawin', '-in', 'content', '-sigfile', 'signature']
    return spawnSync('openssl', ['pkeyutl', '-verify', ...keys, ...files], { cwd: folder }).status
  }
  expect([verify(CALL.body), verify(`${CALL.body} `)]).toEqual([0, 1])
})

it('has no public key for a secret that both sides have', () => {
  expect(publicKeyOf(newWebhookSecret('v1'))).toBeUndefined()
})
