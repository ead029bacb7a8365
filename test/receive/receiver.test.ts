import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createReceiver, type Receiver } from '../../lib/receive/index.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { callOf, eventOf, openStore, SECRET, signedHeaders, type TestStore } from './stores.ts'

const TIMESTAMP = '2026-01-01T00:00:00Z'
const gap = { id: 'evt_gap_1', type: 'webhook.gap', timestamp: TIMESTAMP, data: { cursor: '1.7', reason: 'age' } }

async function answer(receiver: Receiver, call: Request): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await receiver.fetch(call)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describeOnEachEmptyDatabase('a receiver of webhooks', (openUrl) => {
  async function open(): Promise<TestStore> {
    const opened = await openStore(await openUrl())
    onTestFinished(() => opened.close())
    return opened
  }

  it('applies an event once that arrives twice at the same time, and later', async () => {
    const { store, write, effects } = await open()
    const receiver = createReceiver({ store, source: 'crm', secrets: SECRET, effect: write })
    const answers = await Promise.all([1, 1, 2, 2].map((n) => answer(receiver, callOf(eventOf(n)))))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(answers.map(({ body }) => body.applied).sort()).toEqual([0, 0, 1, 1])
    expect(await answer(receiver, callOf(eventOf(1)))).toEqual({ status: 200, body: { applied: 0 } })
    expect((await effects()).sort()).toEqual([eventOf(1).id, eventOf(2).id])
  })

  it('answers 500 when an effect throws, reports it, and applies the next attempt', async () => {
    const { store, write, effects } = await open()
    const errors: unknown[] = []
    let attempts = 0
    const effect = (tx: unknown, event: { id: string }) => {
      if (attempts++ === 0) throw new Error('secret of the receiver')
      return write(tx, event)
    }
    const onError = (error: unknown) => errors.push(error)
    const receiver = createReceiver({ store, source: 'crm', secrets: SECRET, effect, onError })
    expect(await answer(receiver, callOf(eventOf(1)))).toEqual({ status: 500, body: { code: 'internal' } })
    expect(errors).toMatchObject([{ message: 'secret of the receiver' }])
    expect(await answer(receiver, callOf(eventOf(1)))).toMatchObject({ status: 200 })
    expect(await effects()).toEqual([eventOf(1).id])
  })

  it('echoes a challenge and passes over a test, with a signature only', async () => {
    const { store, write, effects, ids } = await open()
    const receiver = createReceiver({ store, source: 'crm', secrets: SECRET, effect: write })
    const challenge = { id: 'evt_c', type: 'webhook.challenge', timestamp: TIMESTAMP, data: { challenge: 'abc' } }
    expect(await answer(receiver, callOf(challenge))).toEqual({ status: 200, body: { challenge: 'abc' } })
    const test = { id: 'evt_t', type: 'webhook.test', timestamp: TIMESTAMP, data: {} }
    expect(await answer(receiver, callOf(test))).toEqual({ status: 200, body: {} })
    const forged = callOf(challenge, { secret: `whsec_${'A'.repeat(43)}=` })
    expect(await answer(receiver, forged)).toMatchObject({ status: 401, body: { code: 'signature' } })
    expect([await effects(), await ids()]).toEqual([[], []])
  })

  it('calls reset once for a gap, in the transaction that stores where the events continue', async () => {
    const { store, write, effects } = await open()
    const without = createReceiver({ store, source: 'crm', secrets: SECRET, effect: write })
    expect(await answer(without, callOf(gap))).toMatchObject({ status: 500, body: { code: 'reset_required' } })
    let fails = true
    const receiver = createReceiver({
      ...{ store, source: 'crm', secrets: SECRET, effect: write },
      reset(tx, { reason, position }) {
        const written = write(tx, { id: `${reason} ${position}` })
        if (fails) throw new Error('no')
        return written
      },
    })
    expect((await receiver.fetch(callOf(gap))).status).toBe(500)
    expect(await store.positions('crm')).toEqual({})
    fails = false
    for (let n = 0; n < 2; n++) expect((await receiver.fetch(callOf(gap))).status).toBe(200)
    expect(await store.positions('crm')).toEqual({ pushed: '1.7' })
    expect(await effects()).toEqual(['age 1.7'])
  })

  it('applies an event again that was forgotten', async () => {
    const { store, write, effects } = await open()
    const receiver = createReceiver({ store, source: 'crm', secrets: SECRET, effect: write })
    await receiver.fetch(callOf(eventOf(1)))
    await receiver.forget({ since: new Date(Date.now() - 60_000) })
    await receiver.fetch(callOf(eventOf(1)))
    expect(await effects()).toHaveLength(2)
    expect(() => receiver.forget({ since: 'today' as never })).toThrow('{ since: new Date(…) }')
  })
})

describe('the handlers of a receiver', () => {
  async function open(): Promise<{ receiver: Receiver; effects: () => Promise<string[]> }> {
    const opened = await openStore('sqlite::memory:')
    onTestFinished(() => opened.close())
    const { store, write, effects } = opened
    return { receiver: createReceiver({ store, source: 'crm', secrets: SECRET, effect: write }), effects }
  }

  /** Serves with a handler, and returns the answer to a call. */
  async function post(
    handler: (request: IncomingMessage, response: ServerResponse) => unknown,
    body: string,
    { method = 'POST', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<{ status?: number; body: string }> {
    const server = createServer(handler).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const call = request({ port, host: '127.0.0.1', method, headers, agent: false })
    call.on('error', () => {})
    call.end(body)
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    const text = (await response.toArray()).join('')
    return { status: response.statusCode!, body: text }
  }

  const body = JSON.stringify(eventOf(1))
  const headers = signedHeaders(body)

  it('take a call of node:http, with the bytes or a body that is kept as bytes', async () => {
    const { receiver, effects } = await open()
    expect(await post(receiver.node, body, { headers })).toMatchObject({ status: 200, body: '{"applied":1}' })
    const kept = async (incoming: IncomingMessage, response: ServerResponse) => {
      const bytes = Buffer.concat(await incoming.toArray())
      await receiver.node(Object.assign(incoming, { body: bytes }), response)
    }
    expect(await post(kept, body, { headers })).toMatchObject({ status: 200, body: '{"applied":0}' })
    expect(await effects()).toHaveLength(1)
  })

  it('refuse a body that was parsed before with the line to change', async () => {
    const { receiver } = await open()
    const parsed = async (incoming: IncomingMessage, response: ServerResponse) => {
      const object = JSON.parse((await incoming.toArray()).join(''))
      await receiver.node(Object.assign(incoming, { body: object }), response)
    }
    const refusal = await post(parsed, body, { headers })
    expect(refusal.status).toBe(400)
    expect(refusal.body).toContain('before app.use(express.json())')
    const call = callOf(eventOf(1))
    await call.text()
    expect(await answer(receiver, call)).toMatchObject({ status: 400, body: { code: 'malformed' } })
  })

  it('refuse other methods and long bodies', async () => {
    const { receiver } = await open()
    expect(await post(receiver.node, '', { method: 'PUT' })).toMatchObject({ status: 405 })
    expect(await answer(receiver, new Request('http://receiver.test'))).toMatchObject({ status: 405 })
    expect(await post(receiver.node, 'x'.repeat(1_100_000))).toMatchObject({ status: 413 })
    const long = new Request('http://receiver.test', { method: 'POST', body: 'x'.repeat(1_100_000) })
    expect(await answer(receiver, long)).toMatchObject({ status: 413 })
  })

  it('refuse every call without keys', async () => {
    const opened = await openStore('sqlite::memory:')
    onTestFinished(() => opened.close())
    const receiver = createReceiver({ store: opened.store, source: 'crm', effect: opened.write })
    expect(await answer(receiver, callOf(eventOf(1)))).toMatchObject({ status: 401, body: { code: 'signature' } })
  })
})
