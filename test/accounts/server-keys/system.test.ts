import { beforeAll, expect, it } from 'vitest'
import { readEvents } from '../../../lib/client/event-stream.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { type Person, startService } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'
import { callWith, refusalOf, type Sent } from './calls.ts'

describeOnEachDatabase('a server key with the scope system', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl()))
  let ada: Person
  let key: string
  beforeAll(async () => {
    await service.signIn('founder')
    ada = await service.signIn('ada')
    ;({ key } = await service.chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['system'] }))
    await service.chat.users.ensure(OPERATOR, { subject: '42', username: 'zoe' })
  })
  const call = (line: string, sent?: Sent) => callWith(service, key, line, { act_as: 'system:orders', ...sent })

  it('opens the conversation of a ref once, adds people by their subjects, posts, and follows all', async () => {
    const stream = await openStream(service.base_url, undefined, {
      authorization: `Bearer ${key}`,
      act_as: 'system:orders',
    })
    await stream.until('stream.ready')
    const body = { title: 'Order 42', ref: 'order-42', ensure: true }
    const made = await call('POST /api/conversations', { body })
    expect(made).toMatchObject({ status: 201, body: { created: true } })
    const { conversation_id } = made.body
    const again = await call('POST /api/conversations', { body: { ...body, title: 'another' } })
    expect(again).toMatchObject({
      status: 200,
      body: { created: false, conversation: { id: conversation_id, title: 'Order 42' } },
    })
    const added = await call(`POST /api/conversations/${conversation_id}/participants`, {
      body: { subject: '42', role: 'owner' },
    })
    expect(added).toMatchObject({ status: 201, body: { participant: { username: 'zoe', role: 'owner' } } })
    const posted = await call(`POST /api/threads/${conversation_id}/root`, { body: { content: 'shipped' } })
    expect(posted.status).toBe(201)
    const shown = await stream.until('thread.new')
    expect(JSON.stringify(shown)).toContain(posted.body.message_id)
    const own = await ada.conversations.create({ title: 'private' })
    await ada.messages.postRoot(own.conversation_id, { content: 'seen by the host' })
    await stream.until('thread.new', (event) => JSON.stringify(event).includes('seen by the host'))
    await stream.close()
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'user.created', limit: 1 })
    const { keys } = await service.chat.serverKeys.list(OPERATOR)
    expect(entries).toMatchObject([{ detail: { by: 'host', server_key: keys[0]!.id } }])
  })

  it("gets your own ids beside each event of the stream, live and replayed; a member's stream has none", async () => {
    const zoe = await service.chat.users.actorOf('42')
    const { conversation_id } = await ada.conversations.create({ title: 'Named' })
    await ada.participants.add(conversation_id, { user_id: zoe.user_id })
    const { key: own } = await ada.keys.create({ name: 'own' })
    const linesOf = async (bearer: string, headers: Record<string, string>, count: number) => {
      const abort = new AbortController()
      const response = await fetch(`${service.base_url}/api/stream`, {
        headers: { authorization: `Bearer ${bearer}`, ...headers },
        signal: abort.signal,
      })
      const lines: { id?: string | undefined; data: Record<string, unknown> }[] = []
      const reading = (async () => {
        for await (const { type, id, data } of readEvents(response.body!)) {
          if (!['stream.ready', 'thread.new', 'message.new'].includes(type)) continue
          lines.push({ id, data: JSON.parse(data) })
          if (lines.length === count) break
        }
        abort.abort()
        return lines
      })()
      await expect.poll(() => lines.length).toBeGreaterThan(0)
      return { reading }
    }
    const act_as = { 'chat-act-as': 'system:orders' }
    const ofHost = await linesOf(key, act_as, 5)
    const ofMember = await linesOf(own, {}, 5)
    await service.chat.messages.postRoot(zoe, conversation_id, { content: 'one' })
    await ada.messages.postRoot(conversation_id, { content: 'two' })
    const [host, member] = await Promise.all([ofHost.reading, ofMember.reading])
    const zoes = { [zoe.user_id]: '42' }
    expect(host.map(({ data }) => data.subjects)).toEqual([{}, zoes, zoes, {}, {}])
    expect(host.map(({ data: { type, payload } }) => ({ type, payload })).slice(1)).toEqual(
      member.map(({ data }) => data).slice(1),
    )
    const replayed = await (await linesOf(key, { ...act_as, 'last-event-id': host[0]!.id! }, 5)).reading
    expect(replayed.slice(1).map(({ data }) => data)).toEqual(host.slice(1).map(({ data }) => data))
  })

  it('makes one conversation when many calls name a ref at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 6 }, () => call('POST /api/conversations', { body: { ref: 'crowd', ensure: true } })),
    )
    expect(new Set(made.map(({ body }) => body.conversation_id)).size).toBe(1)
    expect(made.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  it('needs a ref to ensure, and a name of a part of the host', async () => {
    expect((await call('POST /api/conversations', { body: { ensure: true } })).status).toBe(422)
    for (const act_as of ['system:', 'system:Orders', `system:${'a'.repeat(41)}`, 'system:here'])
      expect((await call('GET /api/auth/me', { act_as })).status, act_as).toBe(422)
    expect(refusalOf(await call('GET /api/auth/me', { act_as: 'subject:42' }))).toEqual([403, 'forbidden', 'scope'])
  })

  it('is the only caller that names a subject or ensures a ref', async () => {
    const { key: own } = await ada.keys.create({ name: 'own' })
    const { conversation_id } = await ada.conversations.create({})
    const adding = `POST /api/conversations/${conversation_id}/participants`
    expect((await callWith(service, own, adding, { body: { subject: '42' } })).status).toBe(422)
    const ensuring = { body: { ref: 'order-43', ensure: true } }
    expect((await callWith(service, own, 'POST /api/conversations', ensuring)).status).toBe(403)
  })

  it('does not act for a disabled part of the host', async () => {
    const { user_id } = await service.chat.system('printer')
    await service.chat.users.change(OPERATOR, user_id, { disabled: true })
    const refused = await call('GET /api/auth/me', { act_as: 'system:printer' })
    expect(refusalOf(refused)).toEqual([403, 'account_disabled', undefined])
  })
})
