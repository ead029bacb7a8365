import { beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../../lib/index.ts'
import { OPERATOR, openStorage } from '../../../lib/index.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { inTens, nextOfType } from '../../live/readers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService, times } from '../../support/service.ts'
import { type SignedHeaders, signInByHand } from '../../support/stream.ts'

async function* toLines(text: string) {
  yield* text.trimEnd().split('\n')
}

describeOnEachDatabase("a host's own ids and data", (openUrl) => {
  let url: string
  const [service, node] = setUpNodes(async () => {
    url = await openUrl()
    return [await startService(url), await startService(url)]
  })
  let ada: Person
  let grace: Person
  let adaActor: Actor
  let graceActor: Actor
  let headers: SignedHeaders
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    adaActor = await service.chat.users.actor(ada.id)
    graceActor = await service.chat.users.actor(grace.id)
    headers = await signInByHand(service.base_url, grace.email, PASSWORD)
  })

  const metadata = { order: { number: 42, lines: ['a', 'ä'] }, paid: true }

  it('are kept with a conversation: read, listed by ref, changed by its owner, and in events', async () => {
    const { conversations, participants } = service.chat
    const { conversation_id: id, conversation } = await conversations.create(graceActor, { ref: 'order-1', metadata })
    expect(conversation).toMatchObject({ ref: 'order-1', metadata })
    await participants.add(graceActor, id, { user_id: ada.id })
    expect(await grace.conversations.get(id)).toMatchObject({ ref: 'order-1', metadata })
    await grace.conversations.create({ title: 'another' })
    const { conversations: found } = await grace.conversations.list({ ref: 'order-1' })
    expect(found).toMatchObject([{ id, ref: 'order-1', metadata }])
    expect((await conversations.listAll(OPERATOR, { ref: 'order-1' })).conversations).toMatchObject([
      { id, ref: 'order-1' },
    ])
    expect((await grace.conversations.list({ ref: 'order-2' })).conversations).toEqual([])
    const stream = service.chat.events.follow(adaActor, id)
    await stream.next()
    await grace.conversations.rename(id, { metadata: { paid: false } })
    expect(await nextOfType(stream, 'conversation.updated')).toMatchObject({
      payload: { conversation: { metadata: { paid: false } } },
    })
    await stream.return(undefined)
    expect(await grace.conversations.rename(id, { title: 'Order 1', metadata: {} })).toMatchObject({
      title: 'Order 1',
      ref: 'order-1',
    })
    expect(await grace.conversations.get(id)).not.toHaveProperty('metadata')
    expect(await codeOf(ada.conversations.rename(id, { metadata }))).toBe('forbidden')
  })

  it('have a ref that is unique until its conversation is deleted', async () => {
    const { conversations } = service.chat
    const { conversation_id: id } = await conversations.create(graceActor, { ref: 'order-3' })
    expect(await codeOf(conversations.create(adaActor, { ref: 'order-3' }))).toBe('conflict')
    const { conversation_id: other } = await conversations.create(graceActor, {})
    expect(await codeOf(conversations.rename(graceActor, other, { ref: 'order-3' }))).toBe('conflict')
    await conversations.rename(graceActor, id, { ref: '' })
    expect(await conversations.rename(graceActor, other, { ref: 'order-3' })).toMatchObject({ ref: 'order-3' })
    await conversations.remove(graceActor, other)
    expect(await conversations.create(adaActor, { ref: 'order-3' })).toMatchObject({ conversation: { ref: 'order-3' } })
  })

  it('have a ref that only an administrator sets over HTTP', async () => {
    expect(await codeOf(grace.conversations.create({ ref: 'order-4' }))).toBe('forbidden')
    const { conversation_id: id } = await ada.conversations.create({ ref: 'order-4' })
    expect(await codeOf(ada.conversations.create({ ref: 'order-4' }))).toBe('conflict')
    expect(await ada.conversations.rename(id, { ref: 'order-5' })).toMatchObject({ ref: 'order-5' })
    const { conversation_id: own } = await grace.conversations.create({ metadata })
    expect(await codeOf(grace.conversations.rename(own, { ref: 'order-6' }))).toBe('forbidden')
  })

  it('have one conversation for each ref, however many calls ensure it at once, on two nodes', async () => {
    const ensured = await Promise.all(
      times(20, (i) =>
        [service, node][i % 2]!.chat.conversations.ensure(graceActor, { ref: 'order-7', title: 'Order 7', metadata }),
      ),
    )
    expect(new Set(ensured.map((each) => each.conversation_id)).size).toBe(1)
    const again = await service.chat.conversations.ensure(graceActor, { ref: 'order-7', title: 'another title' })
    expect(again.conversation).toMatchObject({ title: 'Order 7', ref: 'order-7', metadata, participant_count: 1 })
    expect(await codeOf(service.chat.conversations.ensure(adaActor, { ref: 'order-7' }))).toBe('not_found')
  })

  it('are kept with a message: posted, edited, in events and trees, and gone with its text', async () => {
    const { conversation_id } = await grace.conversations.create()
    const stream = service.chat.events.follow(graceActor, conversation_id)
    await stream.next()
    const posted = await grace.messages.postRoot(conversation_id, { content: 'Paid', metadata })
    expect(posted.message.metadata).toEqual(metadata)
    expect(await nextOfType(stream, 'message.new')).toMatchObject({ payload: { message: { metadata } } })
    await stream.return(undefined)
    const { message_id } = await grace.messages.reply(posted.message_id, { content: 'Thanks', metadata: { a: 1 } })
    await grace.messages.edit(message_id, { content: 'Thank you' })
    expect((await grace.messages.get(message_id)).metadata).toEqual({ a: 1 })
    await grace.messages.edit(message_id, { content: 'Thank you!', metadata: { a: 2 } })
    const { messages } = await grace.threads.tree(posted.root_id)
    expect(messages.map((message) => message.metadata)).toEqual([metadata, { a: 2 }])
    await grace.messages.remove(message_id)
    expect(await grace.messages.get(message_id)).not.toHaveProperty('metadata')
    await grace.messages.restore(message_id)
    await grace.messages.edit(message_id, { content: 'Thank you!', metadata: {} })
    expect(await grace.messages.get(message_id)).not.toHaveProperty('metadata')
  })

  it('are part of a post that is repeated with its key', async () => {
    const { conversation_id } = await grace.conversations.create()
    const post = { content: 'Paid', metadata, idempotency_key: 'once' }
    const { message_id } = await service.chat.messages.postRoot(graceActor, conversation_id, post)
    expect(await service.chat.messages.postRoot(graceActor, conversation_id, post)).toMatchObject({
      message_id,
      message: { metadata },
    })
    const other = { ...post, metadata: { paid: false } }
    expect(await codeOf(service.chat.messages.postRoot(graceActor, conversation_id, other))).toBe(
      'idempotency_mismatch',
    )
  })

  it('are refused when they are too long, and are no JSON', async () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    for (const bad of [{ text: 'x'.repeat(4090) }, { text: 'ä'.repeat(2100) }, { big: 10n }, cycle])
      await expect(service.chat.conversations.create(graceActor, { metadata: bad })).rejects.toMatchObject({
        code: 'validation_failed',
        errors: [{ path: 'metadata', message: 'must be JSON of at most 4096 bytes of UTF-8' }],
      })
    for (const bad of [[], 'text', 5, null])
      await expect(
        service.chat.conversations.create(graceActor, {
          metadata: bad as unknown as object as Record<string, unknown>,
        }),
      ).rejects.toMatchObject({ code: 'validation_failed' })
    expect(await codeOf(service.chat.conversations.create(graceActor, { ref: 'x'.repeat(256) }))).toBe(
      'validation_failed',
    )
    const odd = { 'a\0b': '\u0000\ud800' }
    const { conversation } = await service.chat.conversations.create(graceActor, { metadata: odd })
    expect(conversation.metadata).toEqual(odd)
  })

  it.each([
    ['9007199254740992', 'metadata.order'],
    ['-9007199254740993', 'metadata.order'],
    ['1e400', 'metadata.order'],
    ['-1e400', 'metadata.order'],
    ['1e300', 'metadata.order'],
    ['{"lines":["a",{"n":1e999}]}', 'metadata.order.lines.1.n'],
  ])('are refused with a number that would be stored as another one: %s', async (order, path) => {
    const { conversation_id } = await grace.conversations.create()
    const { message_id } = await grace.messages.postRoot(conversation_id, { content: 'Order' })
    const at = `/api/conversations/${conversation_id}`
    for (const [method, target] of [
      ['POST', '/api/conversations'],
      ['PATCH', at],
      ['POST', `/api/threads/${conversation_id}/root`],
      ['POST', `/api/messages/${message_id}/reply`],
      ['POST', `/api/messages/${message_id}/edit`],
    ] as const) {
      const body = `{"content":"Order","metadata":{"order":${order}}}`
      const init = { method, headers: { ...headers, 'content-type': 'application/json' }, body }
      const response = await fetch(`${service.base_url}${target}`, init)
      const { code, errors } = await response.json()
      expect([target, code, errors]).toEqual([target, 'validation_failed', [{ path, message: expect.any(String) }]])
    }
  })

  it('are refused with a number that is none, in process', async () => {
    for (const order of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])
      await expect(service.chat.conversations.create(graceActor, { metadata: { order } })).rejects.toMatchObject({
        code: 'validation_failed',
        errors: [{ path: 'metadata.order' }],
      })
  })

  it('have their numbers as they were sent, also from an archive', async () => {
    const exact = { most: 2 ** 53 - 1, least: 1 - 2 ** 53, small: 5e-324, price: 0.1, tiny: -1.5e-300, zero: 0 }
    const { conversation_id } = await grace.conversations.create({ metadata: exact })
    const { message_id } = await grace.messages.postRoot(conversation_id, { content: 'Order', metadata: exact })
    const lines: string[] = []
    const own = await openStorage({ database: url })
    await own.export((text) => void lines.push(text))
    await own.close()
    const storage = await openStorage({ database: 'sqlite::memory:' })
    await storage.migrate()
    await storage.import(toLines(lines.join('')))
    const read = async (table: string, id: string) =>
      (await storage.db.get<{ metadata: string }>(statement(`SELECT metadata FROM ${table} WHERE id = ?`, [id])))!
        .metadata
    expect((await grace.conversations.get(conversation_id)).metadata).toEqual(exact)
    expect((await grace.messages.get(message_id)).metadata).toEqual(exact)
    expect(JSON.parse(await read('conversations', conversation_id))).toEqual(exact)
    expect(JSON.parse(await read('messages', message_id))).toEqual(exact)
    await storage.close()
  })

  it('leave a page of large conversations within its size', async () => {
    const large = { text: 'x'.repeat(4000) }
    const person = await service.signIn('linus')
    const actor = await service.chat.users.actor(person.id)
    const title = '界'.repeat(200)
    await inTens(200, (n) =>
      service.chat.conversations.create(actor, { title, ref: `${n}`.padStart(200, '界'), metadata: large }),
    )
    const seen = new Set<string>()
    let pages = 0
    for (let after: string | undefined; ; ) {
      const page = await person.conversations.list({ limit: 200, ...(after && { after }) })
      expect(JSON.stringify(page).length).toBeLessThan(1024 * 1024 + 10_000)
      for (const { id } of page.conversations) seen.add(id)
      pages++
      after = page.next_after
      if (!after) break
    }
    expect([seen.size, pages]).toEqual([200, 2])
  })
})
