import { beforeAll, expect, it } from 'vitest'
import type { Message } from '../../../lib/client/index.ts'
import type { Storage } from '../../../lib/index.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { type Sql, sql } from '../../../lib/storage/sql.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { listEventsAfter } from '../../support/events-after.ts'
import { codeOf, innerState, PASSWORD, type Person, startThread, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'
import { bytesFor, bytesOf, startWithFiles, upload } from '../attachments/files.ts'

/** The statements of the reads of the service. */
const statements: string[] = []

function recording({ db, ...storage }: Storage): Storage {
  const recorded = <Q extends Queries>(queries: Q): Q => {
    const noted = (statement: Sql) => {
      statements.push(statement.text)
      return statement
    }
    return {
      ...queries,
      all: (statement: Sql) => queries.all(noted(statement)),
      get: (statement: Sql) => queries.get(noted(statement)),
    }
  }
  return {
    ...storage,
    db: {
      ...db,
      write: (work, options) => db.write((tx) => work(recorded(tx)), options),
      snapshot: (work, options) => db.snapshot((queries) => work(recorded(queries)), options),
    },
  }
}

describeOnEachDatabase('a quote', (openUrl) => {
  const puppet = createPuppet()
  const service = setUpService(async () =>
    startWithFiles(await openUrl(), {
      config: { assistant: { context: 'path', names: 'never' } },
      wrap: recording,
      ports: { assistant: puppet.assistant },
    }),
  )
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ;({ ada, grace } = await startThread(service))
  })

  /** A conversation of ada and grace, with a message of grace. */
  async function begin(content = 'The quoted words') {
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const { message_id: quote_id } = await grace.messages.postRoot(conversation_id, { content })
    const excerptOf = async (id: string) => (await ada.messages.get(id)).quote
    return { conversation_id, quote_id, excerptOf }
  }

  it('is read with its message wherever that is read, and sent with it, live and later', async () => {
    const { conversation_id, quote_id } = await begin()
    const { base_url } = service
    const stream = await openStream(base_url, conversation_id, await signInByHand(base_url, ada.email, PASSWORD))
    await stream.until('stream.ready')
    const { stream_position } = await ada.conversations.get(conversation_id)
    const quote = { message_id: quote_id, root_id: quote_id, author_user_id: grace.id, excerpt: 'The quoted words' }
    const root = await ada.messages.postRoot(conversation_id, { content: 'root ocelot', quote_id })
    const reply = await ada.messages.reply(root.message_id, { content: 'reply ocelot', quote_id })
    expect([root.message.quote, reply.message.quote]).toEqual([quote, quote])

    const { messages } = await ada.threads.tree(root.root_id)
    await ada.pins.add(reply.message_id)
    const { pins } = await ada.pins.list(conversation_id)
    const { results } = await ada.search.messages({ q: 'ocelot', in: conversation_id })
    const flat = (await ada.messages.list(conversation_id, { view: 'all' })).messages.slice(1)
    const read = [...messages, ...flat, ...pins.map(({ message }) => message), ...results.map(({ message }) => message)]
    expect([...read, await ada.messages.get(root.message_id)].map((message) => message.quote)).toEqual(
      times(8, () => quote),
    )
    // What is quoted is found where it is written.
    expect((await ada.search.messages({ q: 'quoted', in: conversation_id })).results).toHaveLength(1)

    await ada.messages.edit(reply.message_id, { content: 'edited' })
    await ada.messages.remove(reply.message_id)
    expect(await ada.messages.get(reply.message_id)).not.toHaveProperty('quote')
    await ada.messages.restore(reply.message_id)
    const live = []
    for (const type of ['message.new', 'message.new', 'message.edited', 'message.deleted', 'message.restored'])
      live.push((await stream.until(type)).at(-1)!.event.payload as { message: Message })
    expect(live.map(({ message }) => message.quote)).toEqual([quote, quote, quote, undefined, quote])
    const replayed = (await listEventsAfter(ada, conversation_id, stream_position!)).flatMap((event) =>
      'message' in event.payload && typeof event.payload.message === 'object' ? [event.payload.message] : [],
    )
    // Composed of the current data.
    expect(replayed.map((message) => message.quote)).toEqual(times(5, () => quote))
    await stream.close()
  })

  it('is of a live message of the same conversation, and part of what a key repeats', async () => {
    const { conversation_id, quote_id } = await begin()
    const other = await begin()
    const post = (id: string) => ada.messages.postRoot(conversation_id, { content: 'a', quote_id: id })
    const reply = (id: string) => ada.messages.reply(quote_id, { content: 'a', quote_id: id })
    for (const call of [post, reply]) {
      expect(await codeOf(call(other.quote_id))).toBe('not_found')
      expect(await codeOf(call(ada.id))).toBe('not_found')
      expect(await codeOf(call('no id'))).toBe('validation_failed')
    }
    const key = (quote?: string) =>
      ada.messages.postRoot(
        conversation_id,
        { content: 'once', ...(quote && { quote_id: quote }) },
        { headers: { 'idempotency-key': `key-${conversation_id}` } },
      )
    const first = await key(quote_id)
    expect((await key(quote_id)).message).toEqual(first.message)
    expect(await codeOf(key())).toBe('idempotency_mismatch')
    expect(await codeOf(key(first.message_id))).toBe('idempotency_mismatch')
    await grace.messages.remove(quote_id)
    for (const call of [post, reply]) expect(await codeOf(call(quote_id))).toBe('message_deleted')
    expect((await key(quote_id)).message_id).toBe(first.message_id)
  })

  it('is what the message says now, and empty while that is deleted', async () => {
    const { conversation_id, quote_id, excerptOf } = await begin()
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'a', quote_id })
    const { stream_position } = await ada.conversations.get(conversation_id)
    await grace.messages.edit(quote_id, { content: '🚂'.repeat(300) })
    expect((await excerptOf(message_id))!.excerpt).toBe('🚂'.repeat(280))
    await ada.messages.remove(quote_id)
    const ids = { message_id: quote_id, root_id: quote_id, author_user_id: grace.id }
    expect(await excerptOf(message_id)).toEqual({ ...ids, excerpt: '', deleted: true })
    await ada.messages.restore(quote_id)
    expect(await excerptOf(message_id)).toEqual({ ...ids, excerpt: '🚂'.repeat(280) })
    // Told by the events of the quoted message alone.
    const events = await listEventsAfter(ada, conversation_id, stream_position!)
    expect(events.map(({ type, payload }) => [type, (payload as { message: Message }).message.id])).toEqual(
      ['message.edited', 'message.deleted', 'message.restored'].map((type) => [type, quote_id]),
    )
  })

  it('is of a message at the time of the post, whatever else happens to that', async () => {
    const { conversation_id } = await begin()
    for (const quote_id of await Promise.all(
      times(8, async (n) => (await grace.messages.postRoot(conversation_id, { content: `race ${n}` })).message_id),
    )) {
      const [, posted] = await Promise.all([
        grace.messages.remove(quote_id),
        ada.messages.postRoot(conversation_id, { content: 'a', quote_id }).catch((error) => error.code as string),
      ])
      if (typeof posted === 'string') expect(posted).toBe('message_deleted')
      else expect((await ada.messages.get(posted.message_id)).quote).toMatchObject({ excerpt: '', deleted: true })
    }
  })

  it('has the names of files of a message without a text, and the question of an answer', async () => {
    const { conversation_id, excerptOf } = await begin()
    const bytes = await bytesFor(service, grace)
    const ids = []
    for (const name of ['plan.txt', 'more.txt'])
      ids.push(await upload(grace, bytes, conversation_id, { name, content: bytesOf(10) }))
    const files = await grace.messages.postRoot(conversation_id, { content: '', attachment_ids: ids })
    const ofFiles = await ada.messages.postRoot(conversation_id, { content: 'a', quote_id: files.message_id })
    expect(ofFiles.message.quote!.excerpt).toBe('plan.txt, more.txt')
    const question = await grace.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    const answer = await puppet.asked()
    answer.say('Because.')
    answer.end()
    await service.idle()
    const ofAnswer = await ada.messages.postRoot(conversation_id, { content: 'a', quote_id: question.message_id })
    const place = { message_id: question.message_id, root_id: question.root_id }
    expect([ofAnswer.message.quote, await excerptOf(ofAnswer.message_id)]).toEqual(
      times(2, () => ({ ...place, role: 'assistant', excerpt: 'Why?' })),
    )
  })

  it('is before the question that an assistant gets, up to 4,096 characters', async () => {
    const { conversation_id, quote_id } = await begin(`${'x'.repeat(4_096)}y`)
    const ask = async (parent: string, content: string, id?: string) => {
      const input = { content, role: 'assistant' as const, ...(id && { quote_id: id }) }
      const { message_id } = await ada.messages.reply(parent, input)
      const answer = await puppet.asked()
      answer.say('Because.')
      answer.end()
      await service.idle()
      return { message_id, turns: answer.request.turns }
    }
    const { message_id: root } = await ada.messages.postRoot(conversation_id, { content: 'root' })
    const first = await ask(root, 'Why?', quote_id)
    const quoted = { role: 'user', content: `> ${'x'.repeat(4_096)}`, user_id: grace.id }
    const question = { role: 'user', content: 'Why?', user_id: ada.id }
    expect(first.turns).toEqual([{ role: 'user', content: 'root', user_id: ada.id }, quoted, question])
    // With the question that it answers.
    const second = await ask(root, 'Really?', first.message_id)
    expect(second.turns[1]).toEqual({ role: 'user', content: '> Why?\n> \n> Because.' })
    await grace.messages.remove(quote_id)
    const third = await ask(first.message_id, 'Still?')
    expect(third.turns.slice(1).map(({ content }) => content)).toEqual(['Why?', 'Because.', 'Still?'])
  })

  it('names the system actor that has written the message, and can be theirs', async () => {
    const { conversation_id } = await begin()
    const clock = await service.chat.system('clock')
    const { message_id } = await service.chat.messages.postRoot(clock, conversation_id, { content: 'It strikes' })
    const { message } = await ada.messages.postRoot(conversation_id, { content: 'a', quote_id: message_id })
    expect(message.quote).toMatchObject({ role: 'system', author_user_id: clock.user_id, excerpt: 'It strikes' })
    const input = { content: 'b', quote_id: message.id }
    const theirs = await service.chat.messages.reply(clock, message.id, input)
    expect(theirs.message.quote).toMatchObject({ author_user_id: ada.id, excerpt: 'a' })
    const other = await begin()
    expect(
      await codeOf(
        service.chat.messages.postRoot(clock, other.conversation_id, { content: 'c', quote_id: message_id }),
      ),
    ).toBe('not_found')
  })

  it.each(['keep', 'erase'] as const)(
    'has no author, and no word of erased texts, once that is erased (%s)',
    async (messages) => {
      const { conversation_id } = await begin()
      const hal = await service.signIn(`hal-${messages}`)
      await ada.participants.add(conversation_id, { user_id: hal.id })
      const { message_id: quote_id } = await hal.messages.postRoot(conversation_id, { content: 'Canary words' })
      const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'a', quote_id })
      await Promise.all(times(49, (n) => ada.messages.reply(root_id, { content: `reply ${n}`, quote_id })))
      const { message_id: own } = await hal.messages.reply(root_id, { content: 'own', quote_id })
      await ada.users.erase(hal.id, { messages })
      for (const isProcessed of [false, true]) {
        if (isProcessed) await service.idle()
        const page = await ada.threads.tree(root_id)
        const quotes = page.messages.flatMap(({ quote }) => quote ?? [])
        const place = { message_id: quote_id, root_id: quote_id }
        const left = messages === 'keep' ? { excerpt: 'Canary words' } : { excerpt: '', deleted: true as const }
        expect(quotes).toEqual(times(messages === 'keep' ? 51 : 50, () => ({ ...place, ...left })))
        if (messages === 'erase') expect(JSON.stringify(page)).not.toMatch(/Canary/)
      }
      const { db } = innerState(service)
      const row = await db.get<{ quote_id: string | null }>(sql`SELECT quote_id FROM messages WHERE id = ${own}`)
      expect(row).toEqual({ quote_id: messages === 'keep' ? quote_id : null })
    },
  )

  it('is not read of another conversation, whatever a row names', async () => {
    const { conversation_id, quote_id, excerptOf } = await begin()
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'a', quote_id })
    const { db } = innerState(service)
    for (const id of [(await begin('secret')).quote_id, 'unknown']) {
      await db.run(sql`UPDATE messages SET quote_id = ${id} WHERE id = ${message_id}`)
      expect(await excerptOf(message_id)).toBeUndefined()
    }
  })

  it('costs one statement for a page, one for a post, and none without', async () => {
    const { conversation_id, quote_id } = await begin()
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'plain' })
    /** The statements that read quoted messages. */
    const countOf = async (work: () => Promise<unknown>) => {
      statements.length = 0
      await work()
      return statements.filter((sql) => sql.includes('AS begin')).length
    }
    for (const n of times(25, (index) => index)) await ada.messages.reply(root_id, { content: `plain ${n}` })
    expect(await countOf(() => ada.threads.tree(root_id))).toBe(0)
    expect(await countOf(() => ada.messages.postRoot(conversation_id, { content: 'plain' }))).toBe(0)
    expect(await countOf(() => ada.messages.postRoot(conversation_id, { content: 'plain', quote_id }))).toBe(1)
    for (const n of times(25, (index) => index)) {
      const { message_id } = await ada.messages.reply(root_id, { content: `other ${n}` })
      await ada.messages.reply(root_id, { content: `quote ${n}`, quote_id: message_id })
    }
    expect(await countOf(() => ada.threads.tree(root_id))).toBe(1)
  })

  it('counts in the size of a page', async () => {
    const { conversation_id, quote_id } = await begin(`a${'\x01'.repeat(300)}`)
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'root' })
    const actor = await service.chat.users.actor(ada.id)
    const many = times(500, (n) => n)
    await Promise.all(
      many.map((n) => service.chat.messages.reply(actor, root_id, { content: `${n} ${'x'.repeat(600)}`, quote_id })),
    )
    let cursor_path: string | undefined
    let read = 0
    do {
      const page = await ada.threads.tree(root_id, { limit: 500, cursor_path })
      expect(Buffer.byteLength(JSON.stringify(page.messages))).toBeLessThan(1024 * 1024 + 4096)
      read += page.messages.length
      cursor_path = page.next_cursor
    } while (cursor_path !== undefined)
    expect(read).toBe(501)
  })
})
