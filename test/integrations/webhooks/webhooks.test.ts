import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endWebhooksOfKeys } from '../../../lib/accounts/means/ending-webhooks.ts'
import { ChatError, createAdminClient } from '../../../lib/client/admin.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { openWebhook } from '../../../lib/integrations/webhooks/secrets.ts'
import { publicKeyOf, signCall } from '../../../lib/integrations/webhooks/signing.ts'
import { findWebhook } from '../../../lib/integrations/webhooks/store.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, type TestService } from '../../support/service.ts'

const HEADERS = { authorization: 'Bearer of-the-receiver', 'x-team': 'crm' }

interface Received {
  headers: Record<string, string>
  body: string
}

/** A receiver on this machine, which answers as a test wants. */
async function startReceiver() {
  const received: Received[] = []
  const answer = { run: (_event: { data: { challenge?: string } }): { status?: number; body?: string } => ({}) }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    received.push({ headers: request.headers as Record<string, string>, body })
    const { status = 200, body: text = '' } = answer.run(JSON.parse(body))
    response.writeHead(status).end(text)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}/events?token=hidden`,
    received,
    answer,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function failureOf(call: Promise<unknown>): Promise<[code: string, reason?: string] | undefined> {
  return call.then(
    () => undefined,
    (error) => (error instanceof ChatError ? [error.code, error.reason] : Promise.reject(error)),
  ) as never
}

const as = (service: TestService, api_key: string) => createAdminClient({ base_url: service.base_url, api_key })

describeOnEachDatabase('webhooks', (openUrl) => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let ahead = 0
  const lines: string[] = []
  const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const service = setUpService(async () => {
    receiver = await startReceiver()
    return startService(await openUrl(), {
      ports: { now: () => Date.now() * 1000 + ahead, log: { debug: note, info: note, warn: note, error: note } },
      config: {
        webhooks: { enabled: true, max_per_user: 3, trusted_hosts: ['trusted.example', 'other.example:8443'] },
        bots: { enabled: true },
        access: { roles: { quiet: { keys: false } } },
        outgoing: {
          allow_http: true,
          allowed_networks: ['127.0.0.1'],
          allowed_ports: [443, 8443, receiver.port],
        },
      },
    })
  })
  let root: Person
  let serial = 0
  beforeAll(async () => {
    root = await service.signIn('root')
  })
  afterAll(() => receiver.close())

  const person = () => service.signIn(`person${++serial}`)

  async function make(owner: Person, input: object = {}) {
    return owner.webhooks.create({ url: receiver.url, ...input })
  }

  /** A webhook that has returned its challenge. */
  async function makeActive(owner: Person, input: object = {}) {
    const created = await make(owner, input)
    receiver.answer.run = ({ data }) => ({ body: data.challenge ?? '' })
    expect(await owner.webhooks.verify(created.webhook.id)).toEqual({ status: 200, ms: expect.any(Number) })
    return created
  }

  /** Who has done last what with a webhook, and why, by the audit log. */
  async function lastAudited(subject_id: string) {
    const { entries } = await service.chat.audit.list(OPERATOR, { subject_id, limit: 1 })
    const [{ act, actor_id, detail } = {} as never] = entries
    return { act, ...(actor_id && { actor_id }), reason: detail?.reason }
  }

  it('is made with defaults, and its secret is shown once', async () => {
    const owner = await person()
    const { webhook, secret } = await make(owner, {
      headers: { Authorization: HEADERS.authorization, 'X-Team': 'crm' },
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(webhook).toEqual({
      id: expect.any(String),
      user_id: owner.id,
      url: receiver.url,
      types: ['message.new', 'message.done'],
      only: 'all',
      bots: true,
      order: 'none',
      parallel: 4,
      payload: 'full',
      signature: 'v1',
      headers: ['authorization', 'x-team'],
      status: 'unverified',
      position: expect.any(String),
      lag_seconds: 0,
      parked: 0,
      created_at: expect.any(String),
    })
    expect(await owner.webhooks.get(webhook.id)).toEqual({ webhook })
    expect(await owner.webhooks.list()).toEqual({ webhooks: [webhook] })
    const { position } = await owner.feed.read({})
    expect(webhook.position).toBe(position)
    await owner.webhooks.remove(webhook.id)
    expect(await codeOf(owner.webhooks.get(webhook.id))).toBe('not_found')
    expect(await codeOf(owner.webhooks.remove(webhook.id))).toBe('not_found')
  })

  it('is stored without its secret and the values of its headers, which are in no answer, log and audit', async () => {
    const owner = await person()
    const { webhook, secret } = await makeActive(owner, { headers: HEADERS })
    await owner.webhooks.change(webhook.id, { headers: { 'x-other': 'of-the-receiver-2' } })
    const { db } = innerState(service)
    const row = await db.get<object>(sql`SELECT * FROM webhooks WHERE id = ${webhook.id}`)
    const { entries: records } = await root.audit.list({ limit: 200 })
    const shown = [row, records, lines, await owner.webhooks.list(), await root.webhooks.listAll()]
    for (const hidden of [secret!.slice(6), 'of-the-receiver']) expect(JSON.stringify(shown)).not.toContain(hidden)
    expect(JSON.stringify([records, lines, await root.webhooks.listAll()])).not.toContain('token=hidden')
    const context = innerState(service)
    const opened = await openWebhook(context, (await findWebhook(db, webhook.id, { all: true }))!, context.now())
    expect(opened).toEqual({ secrets: [secret], headers: { 'x-other': 'of-the-receiver-2' } })
    const acts = records.filter(({ subject_id }) => subject_id === webhook.id).map(({ act }) => act)
    expect(acts.sort()).toEqual(['webhook.changed', 'webhook.created', 'webhook.verified'])
  })

  it.each([
    ['a number', 'https://167837955/'],
    ['an internal address', 'https://10.1.2.3/'],
    ['another port', 'https://receiver.example:8444/'],
    ['a user part', 'https://user:password@receiver.example/'],
    ['a fragment', 'https://receiver.example/#x'],
    ['another scheme', 'ftp://receiver.example/'],
    ['no URL', 'receiver.example'],
  ])('refuses %s as a URL, with one message', async (_, url) => {
    const owner = await person()
    const error = await owner.webhooks.create({ url }).catch((error) => error)
    expect(error).toMatchObject({ code: 'validation_failed', errors: [{ path: 'url' }] })
    const other = await owner.webhooks.create({ url: 'https://127.0.0.2/' }).catch((error) => error)
    expect(error.errors).toEqual(other.errors)
  })

  it('takes a URL whose name leads nowhere', async () => {
    const owner = await person()
    await owner.webhooks.create({ url: 'https://nowhere.invalid/events' })
  })

  it.each<[string, object]>([
    ['no types', { types: [] }],
    ['an unknown type', { types: ['message.sent'] }],
    ['a type that is not sent', { types: ['message.delta'] }],
    ['parallel', { parallel: 17 }],
    ['a header of the protocol', { headers: { host: 'other.example' } }],
    ['a header of the service', { headers: { 'x-chat-server-position': '1' } }],
    ['a header twice', { headers: { 'x-a': '1', 'X-A': '2' } }],
    ['six headers', { headers: { 'x-1': '1', 'x-2': '1', 'x-3': '1', 'x-4': '1', 'x-5': '1', 'x-6': '1' } }],
    ['a long header', { headers: { 'x-a': 'a'.repeat(1025) } }],
    ['a header of two lines', { headers: { 'x-a': 'a\r\nx-b: c' } }],
    ['a future instant', { since: '2999-01-01T00:00:00Z' }],
    ['a text that is no position', { since: 'yesterday' }],
    ['a position of another database', { since: '0123456789abcdef.1' }],
  ])('refuses %s', async (_, input) => {
    const owner = await person()
    expect(await codeOf(make(owner, input))).toBe('validation_failed')
  })

  it('begins at an instant or at a position', async () => {
    const owner = await person()
    const { conversation_id } = await owner.conversations.create({})
    const { position } = await owner.feed.read({})
    const { message } = await owner.messages.postRoot(conversation_id, { content: 'later' })
    const { webhook } = await make(owner, { since: position })
    expect(webhook.position).toBe(position)
    const { webhook: at } = await make(owner, { since: message.created_at })
    const { events } = await owner.feed.read({ after: at.position, types: 'message.new' })
    expect(events).toMatchObject([{ data: { message: { id: message.id } } }])
  })

  it('is of the own account alone, and of no reader, guest or system actor', async () => {
    const owner = await person()
    const { webhook } = await make(owner)
    const eve = await person()
    const { id } = webhook
    const calls = (by: Person) => [
      () => by.webhooks.get(id),
      () => by.webhooks.change(id, { enabled: false }),
      () => by.webhooks.verify(id),
      () => by.webhooks.test(id),
      () => by.webhooks.rotate(id),
      () => by.webhooks.remove(id),
    ]
    for (const by of [eve, root]) for (const call of calls(by)) expect(await codeOf(call())).toBe('not_found')
    const reader = await service.signIn(`reader${++serial}`, ['read_only'])
    expect(await failureOf(make(reader))).toEqual(['forbidden', 'role'])
    const system = await service.chat.system('sync')
    expect(await codeOf(service.chat.webhooks.create(system, { url: receiver.url }))).toBe('forbidden')
    const { conversation_id } = await eve.conversations.create({})
    expect(await codeOf(make(owner, { conversation_id }))).toBe('not_found')
  })

  it('has a maximum for each user, also at the same time', async () => {
    const owner = await person()
    const results = await Promise.all([1, 2, 3, 4, 5].map(() => failureOf(make(owner))))
    expect(results.filter((result) => result === undefined)).toHaveLength(3)
    expect(results.filter((result) => result?.[0] === 'conflict')).toHaveLength(2)
  })

  it('of a user who lost the right to have keys is only disabled or deleted', async () => {
    const owner = await person()
    const { webhook } = await makeActive(owner)
    const { id } = webhook
    await service.chat.users.change(OPERATOR, owner.id, { roles: ['quiet'] })
    for (const changes of [{ parallel: 2 }, { enabled: true }, { enabled: false, parallel: 2 }])
      expect(await failureOf(owner.webhooks.change(id, changes))).toEqual(['forbidden', 'role'])
    const calls = [
      () => owner.webhooks.rotate(id),
      () => owner.webhooks.verify(id),
      () => owner.webhooks.test(id),
      () => owner.webhooks.replay(id, { since: new Date().toISOString() }),
      () => owner.webhooks.replayDelivery(id, id),
    ]
    for (const call of calls) expect(await failureOf(call())).toEqual(['forbidden', 'role'])
    expect((await owner.webhooks.get(id)).webhook.id).toBe(id)
    await owner.webhooks.change(id, { enabled: false })
    await owner.webhooks.remove(id)
  })

  it('requires a recent sign-in to be made, moved or rotated', async () => {
    const owner = await person()
    const { webhook } = await make(owner)
    ahead += 11 * 60 * SECOND
    expect(await codeOf(make(owner))).toBe('confirmation_required')
    expect(await codeOf(owner.webhooks.rotate(webhook.id))).toBe('confirmation_required')
    expect(await codeOf(owner.webhooks.change(webhook.id, { url: `${receiver.url}2` }))).toBe('confirmation_required')
    await owner.webhooks.change(webhook.id, { parallel: 2 })
    await root.auth.confirm({ password: PASSWORD })
  })

  describe('verification', () => {
    it('is an echo of a signed challenge, as text or as JSON', async () => {
      const owner = await person()
      const { webhook, secret } = await make(owner, { headers: HEADERS })
      const { id } = webhook
      receiver.received.length = 0
      receiver.answer.run = () => ({ body: 'no' })
      expect(await owner.webhooks.verify(id)).toEqual({ status: 200, ms: expect.any(Number), error: 'challenge' })
      receiver.answer.run = ({ data }) => ({ status: 500, body: data.challenge ?? '' })
      expect(await owner.webhooks.verify(id)).toMatchObject({ status: 500, error: 'status' })
      receiver.answer.run = ({ data }) => ({ status: 302, body: data.challenge ?? '' })
      expect(await owner.webhooks.verify(id)).toMatchObject({ status: 302, error: 'status' })
      expect((await owner.webhooks.get(id)).webhook.status).toBe('unverified')
      expect(await codeOf(owner.webhooks.test(id))).toBe('conflict')
      expect(await codeOf(owner.webhooks.change(id, { enabled: true }))).toBe('conflict')
      receiver.answer.run = ({ data }) => ({ body: JSON.stringify({ challenge: data.challenge }) })
      expect(await owner.webhooks.verify(id)).toEqual({ status: 200, ms: expect.any(Number) })
      expect((await owner.webhooks.get(id)).webhook.status).toBe('active')
      const { headers, body } = receiver.received.at(-1)!
      expect(JSON.parse(body)).toEqual({
        id: expect.stringMatching(/^evt_[a-z0-9_]{1,60}$/),
        type: 'webhook.challenge',
        timestamp: expect.any(String),
        data: { challenge: expect.any(String) },
      })
      expect(headers).toMatchObject({ ...HEADERS, 'x-chat-server-webhook': id })
      const call = { id: headers['webhook-id']!, timestamp: Number(headers['webhook-timestamp']), body }
      expect(headers['webhook-signature']).toBe(signCall(call, [secret!]))
      // An active one stays active, whatever it returns.
      receiver.answer.run = () => ({ body: 'no' })
      expect(await owner.webhooks.verify(id)).toMatchObject({ error: 'challenge' })
      expect((await owner.webhooks.get(id)).webhook.status).toBe('active')
      expect(await owner.webhooks.test(id)).toEqual({ status: 200, ms: expect.any(Number) })
      expect(JSON.parse(receiver.received.at(-1)!.body)).toMatchObject({ type: 'webhook.test', data: {} })
    })

    it('is needed again for another URL', async () => {
      const owner = await person()
      const { webhook } = await makeActive(owner)
      const { webhook: same } = await owner.webhooks.change(webhook.id, { url: receiver.url })
      expect(same.status).toBe('active')
      const { webhook: moved } = await owner.webhooks.change(webhook.id, { url: `${receiver.url}&other` })
      expect(moved.status).toBe('unverified')
    })

    it('does not verify a URL that was changed meanwhile', async () => {
      const owner = await person()
      const { webhook } = await make(owner)
      receiver.answer.run = ({ data }) => ({ body: data.challenge ?? '' })
      const { db } = innerState(service)
      const verifying = owner.webhooks.verify(webhook.id)
      await db.write((tx) => tx.run(sql`UPDATE webhooks SET url = 'https://evil.example/' WHERE id = ${webhook.id}`))
      await verifying
      const row = await findWebhook(db, webhook.id, { all: true })
      if (row!.status === 'active') expect(receiver.received.length).toBeGreaterThan(0)
      expect([row!.url]).toEqual(['https://evil.example/'])
    })

    it('is not needed for trusted hosts, with their ports, nor by administrators', async () => {
      const owner = await person()
      const statusOf = async (by: Person, url: string) => {
        const { webhook } = await by.webhooks.create({ url })
        await by.webhooks.remove(webhook.id)
        return webhook.status
      }
      expect(await statusOf(owner, 'https://trusted.example/a')).toBe('active')
      expect(await statusOf(owner, 'https://trusted.example:8443/a')).toBe('unverified')
      expect(await statusOf(owner, 'https://other.example:8443/a')).toBe('active')
      expect(await statusOf(owner, 'https://sub.trusted.example/a')).toBe('unverified')
      expect(await statusOf(root, 'https://receiver.example/a')).toBe('active')
    })

    it('ends with the webhook after seven days', async () => {
      const owner = await person()
      const { webhook } = await make(owner)
      const { webhook: active } = await makeActive(owner)
      const { db } = innerState(service)
      const long = Date.now() * 1000 - 8 * 86_400 * SECOND
      await db.write((tx) => tx.run(sql`UPDATE webhooks SET unverified_at = ${long} WHERE id = ${webhook.id}`))
      expect((await service.chat.ops.prune()).webhooks).toBe(1)
      expect((await owner.webhooks.list()).webhooks.map(({ id }) => id)).toEqual([active.id])
    })

    it('is asked ten times a minute at most', async () => {
      const owner = await person()
      const { webhook } = await makeActive(owner)
      const codes = await Promise.all(Array.from({ length: 12 }, () => failureOf(owner.webhooks.test(webhook.id))))
      expect(codes.filter((each) => each?.[0] === 'rate_limited').length).toBeGreaterThanOrEqual(2)
    })
  })

  it('is rotated: both secrets sign for a day', async () => {
    const owner = await person()
    const { webhook, secret } = await makeActive(owner)
    const rotated = await owner.webhooks.rotate(webhook.id)
    expect(rotated.secret).not.toBe(secret)
    await owner.webhooks.test(webhook.id)
    const signatures = () => receiver.received.at(-1)!.headers['webhook-signature']!.split(' ')
    expect(signatures()).toHaveLength(2)
    const context = innerState(service)
    const row = (await findWebhook(context.db, webhook.id, { all: true }))!
    expect((await openWebhook(context, row, context.now()))?.secrets).toEqual([rotated.secret, secret])
    expect((await openWebhook(context, row, context.now() + 86_401 * SECOND))?.secrets).toEqual([rotated.secret])
  })

  it('signs with a key pair, and shows its public half', async () => {
    const owner = await person()
    const { webhook, secret } = await makeActive(owner, { signature: 'v1a' })
    expect(secret).toBeUndefined()
    expect(webhook.public_key).toMatch(/^whpk_/)
    expect(receiver.received.at(-1)!.headers['webhook-signature']).toMatch(/^v1a,/)
    const rotated = await owner.webhooks.rotate(webhook.id)
    expect(rotated).toEqual({ public_key: expect.stringMatching(/^whpk_/) })
    expect((await owner.webhooks.get(webhook.id)).webhook.public_key).toBe(rotated.public_key)
    const { webhook: changed } = await owner.webhooks.change(webhook.id, { signature: 'v1' })
    expect(changed).not.toHaveProperty('public_key')
    const context = innerState(service)
    const row = (await findWebhook(context.db, webhook.id, { all: true }))!
    const [present, former] = (await openWebhook(context, row, context.now()))!.secrets
    expect([present!.slice(0, 6), publicKeyOf(former!)]).toEqual(['whsec_', rotated.public_key])
  })

  it('is disabled and enabled, and what an administrator has disabled only by one', async () => {
    const owner = await person()
    const { webhook } = await makeActive(owner)
    const { id } = webhook
    expect((await owner.webhooks.change(id, { enabled: false })).webhook).toMatchObject({
      status: 'disabled',
      disabled_reason: 'user',
    })
    expect(await codeOf(owner.webhooks.verify(id))).toBe('conflict')
    expect(await codeOf(owner.webhooks.test(id))).toBe('conflict')
    expect((await owner.webhooks.change(id, { enabled: true })).webhook.status).toBe('active')
    await owner.webhooks.change(id, { enabled: false })
    const { webhooks } = await root.webhooks.listAll({ user_id: owner.id, status: 'disabled' })
    expect(webhooks).toEqual([
      {
        id,
        user_id: owner.id,
        host: `127.0.0.1:${receiver.port}`,
        status: 'disabled',
        disabled_reason: 'user',
        created_at: webhook.created_at,
      },
    ])
    expect((await root.webhooks.changeAny(id, { enabled: false })).webhook.disabled_reason).toBe('admin')
    expect(await failureOf(owner.webhooks.change(id, { enabled: true }))).toEqual(['forbidden', 'role'])
    expect(await codeOf(owner.webhooks.changeAny(id, { enabled: true }))).toBe('forbidden')
    expect((await root.webhooks.changeAny(id, { enabled: true })).webhook.status).toBe('active')
    const byHost = await root.webhooks.listAll({ host: `127.0.0.1:${receiver.port}`, limit: 1 })
    expect(byHost.webhooks).toHaveLength(1)
    expect(byHost.next_after).toBe(byHost.webhooks[0]!.id)
  })

  describe('made with an API key', () => {
    it('is changed by this key alone, and ends with it', async () => {
      const owner = await person()
      const { webhook: own } = await makeActive(owner)
      const created = await owner.keys.create({ name: 'crm' })
      const client = as(service, created.key)
      const { webhook } = await client.webhooks.create({ url: 'https://trusted.example/' })
      expect((await client.webhooks.list()).webhooks.map(({ id }) => id)).toEqual([own.id, webhook.id])
      await client.webhooks.change(webhook.id, { parallel: 1 })
      const calls = [
        () => client.webhooks.change(own.id, { url: 'https://trusted.example/' }),
        () => client.webhooks.rotate(own.id),
        () => client.webhooks.verify(own.id),
        () => client.webhooks.remove(own.id),
      ]
      for (const call of calls) expect(await failureOf(call())).toEqual(['forbidden', 'key'])
      expect(await failureOf(client.webhooks.listAll())).toEqual(['forbidden', expect.anything()])
      await owner.keys.revoke(created.id)
      expect((await owner.webhooks.get(webhook.id)).webhook).toMatchObject({
        status: 'disabled',
        disabled_reason: 'key',
      })
      expect(await lastAudited(webhook.id)).toEqual({ act: 'webhook.changed', actor_id: owner.id, reason: 'key' })
      expect((await owner.webhooks.change(webhook.id, { enabled: true })).webhook.status).toBe('active')
      expect((await owner.webhooks.get(own.id)).webhook.status).toBe('active')
    })

    it('ends when the key expires, and with a revocation by an administrator', async () => {
      const owner = await person()
      const expires_at = new Date(Date.now() + ahead / 1000 + 60_000).toISOString()
      const keys = [await owner.keys.create({ name: 'a', expires_at }), await owner.keys.create({ name: 'b' })]
      const ids: string[] = []
      for (const { key } of keys)
        ids.push((await as(service, key).webhooks.create({ url: 'https://trusted.example/' })).webhook.id)
      await root.keys.revokeAny(keys[1]!.id)
      const reasons = async () => (await owner.webhooks.list()).webhooks.map(({ disabled_reason }) => disabled_reason)
      expect(await reasons()).toEqual([undefined, 'key'])
      const context = innerState(service)
      await context.write((tx) => endWebhooksOfKeys(tx, context.now() + 61 * SECOND))
      expect(await reasons()).toEqual(['key', 'key'])
      expect(await lastAudited(ids[0]!)).toEqual({ act: 'webhook.changed', reason: 'key' })
      expect(await lastAudited(ids[1]!)).toEqual({ act: 'webhook.changed', actor_id: root.id, reason: 'key' })
    })
  })

  describe('of a bot', () => {
    it('is made by its owner or its key, with the defaults of bots', async () => {
      const owner = await person()
      const { bot, key } = await owner.bots.create({ username: `bot${++serial}` })
      const { webhook } = await make(owner, { bot_id: bot.id })
      expect(webhook).toMatchObject({ user_id: owner.id, bot_id: bot.id, bots: false })
      const client = as(service, key)
      const { webhook: own } = await client.webhooks.create({ url: 'https://trusted.example/' })
      expect(own).toMatchObject({ user_id: owner.id, bot_id: bot.id })
      const { webhook: others } = await make(owner)
      expect((await client.webhooks.list()).webhooks.map(({ id }) => id)).toEqual([webhook.id, own.id])
      expect((await owner.webhooks.list({ bot_id: bot.id })).webhooks).toHaveLength(2)
      expect((await owner.webhooks.list()).webhooks.map(({ id }) => id)).toEqual([webhook.id, own.id, others.id])
      const eve = await person()
      expect(await codeOf(make(eve, { bot_id: bot.id }))).toBe('not_found')
      for (const bot_id of [bot.id, owner.id]) {
        expect(await codeOf(eve.webhooks.list({ bot_id }))).toBe('not_found')
        const actor = await service.chat.users.actor(eve.id)
        expect(await codeOf(service.chat.webhooks.list(actor, { bot_id }))).toBe('not_found')
      }
      const { conversation_id } = await owner.conversations.create({})
      expect(await codeOf(owner.webhooks.change(webhook.id, { conversation_id }))).toBe('not_found')
      await root.users.change(bot.id, { owner_id: eve.id })
      expect((await eve.webhooks.list()).webhooks.map(({ id }) => id)).toEqual([webhook.id, own.id])
      await eve.bots.remove(bot.id)
      expect((await eve.webhooks.list()).webhooks).toEqual([])
    })
  })

  /** The webhooks of all users as the operator lists them, in pages of this size at most. */
  async function listAll(limit: number) {
    const { list } = service.chat.webhooks
    const webhooks: Awaited<ReturnType<typeof list>>['webhooks'] = []
    for (let after: string | undefined; ; ) {
      const page = await list(OPERATOR, { limit, after })
      expect(page.webhooks.length).toBeLessThanOrEqual(limit)
      webhooks.push(...page.webhooks)
      after = page.next_after
      if (after === undefined) return webhooks
    }
  }

  it('are listed in pages for the operator and in process, oldest first, and whole for their owner over HTTP', async () => {
    const owner = await person()
    const made: string[] = []
    for (let n = 0; n < 3; n++) made.push((await make(owner)).webhook.id)
    const all = (await listAll(2)).map(({ id }) => id)
    expect(all).toEqual(all.toSorted())
    expect(new Set(all).size).toBe(all.length)
    expect(all).toEqual(expect.arrayContaining(made))
    const actor = await service.chat.users.actor(owner.id)
    const first = await service.chat.webhooks.list(actor, { limit: 2 })
    expect(first.webhooks.map(({ id }) => id)).toEqual(made.slice(0, 2))
    expect(first.next_after).toBe(made[1])
    const rest = await service.chat.webhooks.list(actor, { limit: 2, after: first.next_after })
    expect(rest.webhooks.map(({ id }) => id)).toEqual(made.slice(2))
    expect(rest).not.toHaveProperty('next_after')
    expect((await owner.webhooks.list()).webhooks.map(({ id }) => id)).toEqual(made)
  })

  it('of the operator has all conversations, and thin events unless it says otherwise', async () => {
    const { webhook } = await service.chat.webhooks.create(OPERATOR, { url: 'https://receiver.example/all' })
    expect(webhook).toMatchObject({ status: 'active', payload: 'thin' })
    expect(webhook).not.toHaveProperty('user_id')
    const { webhook: whole } = await service.chat.webhooks.create(OPERATOR, {
      url: 'https://receiver.example/',
      content: true,
    })
    expect(whole).toMatchObject({ content: true, payload: 'full' })
    const owner = await person()
    const { webhook: theirs } = await make(owner)
    const ids = (await listAll(7)).map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining([webhook.id, whole.id, theirs.id]))
    const actor = await service.chat.users.actor(owner.id)
    expect(await codeOf(service.chat.webhooks.create(actor, { url: receiver.url, content: true }))).toBe(
      'validation_failed',
    )
    for (const { id } of [webhook, whole]) await service.chat.webhooks.remove(OPERATOR, id)
  })

  it('is disabled by a lockdown, paused with the account, and erased with it', async () => {
    const owner = await person()
    const { webhook } = await makeActive(owner)
    const { db } = innerState(service)
    const row = async () => findWebhook(db, webhook.id, { all: true })
    await root.users.change(owner.id, { disabled: true })
    expect((await row())?.status).toBe('active')
    await root.users.change(owner.id, { disabled: false })
    await root.users.lockDown(owner.id)
    expect(await row()).toMatchObject({ status: 'disabled', disabled_reason: 'lockdown' })
    expect(await lastAudited(webhook.id)).toEqual({ act: 'webhook.changed', actor_id: root.id, reason: 'lockdown' })
    await root.users.erase(owner.id, {})
    expect(await row()).toBeUndefined()
  })

  it('whose secret is lost is disabled when it is called, and enabled with a new one', async () => {
    const owner = await person()
    const { webhook } = await makeActive(owner)
    const { db } = innerState(service)
    await db.write((tx) => tx.run(sql`UPDATE webhooks SET secret = 'v1.AAAAAAAA.AAAA' WHERE id = ${webhook.id}`))
    expect(await codeOf(owner.webhooks.test(webhook.id))).toBe('conflict')
    expect((await owner.webhooks.get(webhook.id)).webhook.disabled_reason).toBe('secret_lost')
    expect(await codeOf(owner.webhooks.change(webhook.id, { enabled: true }))).toBe('conflict')
    await owner.webhooks.rotate(webhook.id)
    const { conversation_id } = await owner.conversations.create({})
    await owner.messages.postRoot(conversation_id, { content: 'not sent' })
    const { webhook: enabled } = await owner.webhooks.change(webhook.id, { enabled: true })
    expect(enabled.status).toBe('active')
    expect((await owner.feed.read({ after: enabled.position })).events).toEqual([])
  })
})

describeOnEachDatabase('webhooks of a service with a public URL', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), { config: { server: { public_url: 'https://chat.example.org' } } }),
  )

  it('never call this machine or the service itself, and no HTTP', async () => {
    const root = await service.signIn('root')
    const urls = [
      'https://localhost/x',
      'https://2130706433/',
      'https://[::1]/',
      'https://chat.example.org/api/hooks/x',
      'http://receiver.example/',
      'https://receiver.example:8443/',
    ]
    const errors = await Promise.all(urls.map((url) => root.webhooks.create({ url }).catch(({ errors }) => errors)))
    expect(new Set(errors.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(errors[0]).toMatchObject([{ path: 'url' }])
  })
})

describeOnEachDatabase('without webhooks', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { webhooks: { enabled: false }, bots: { enabled: false }, hooks: { enabled: false } },
    }),
  )

  it('their routes are not found', async () => {
    const root = await service.signIn('root')
    expect(await codeOf(root.webhooks.create({ url: 'https://receiver.example/' }))).toBe('not_found')
    expect(await codeOf(root.webhooks.list())).toBe('not_found')
    expect(await codeOf(root.webhooks.listAll())).toBe('not_found')
    expect(await codeOf(root.feed.read({}))).toBe('not_found')
  })
})
