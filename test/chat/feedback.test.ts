import { beforeAll, expect, it } from 'vitest'
import { exportConversation } from '../../lib/storage/archive/conversation-export.ts'
import { exportArchive } from '../../lib/storage/archive/export.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeService } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startThread } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

describeService('feedback and marks', (service) => {
  let root: Person
  beforeAll(async () => {
    root = await service.signIn('root')
  })

  /** An answer of the assistant to Ada, in a conversation with Grace. */
  async function startAnswer() {
    const { ada, grace, conversation_id } = await startThread(service)
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    await answered(ada, message_id)
    return { ada, grace, conversation_id, message_id }
  }

  it('of an answer is that of each reader, and replaces the one before', async () => {
    const { ada, grace, conversation_id, message_id } = await startAnswer()
    await ada.feedback.set(message_id, { rating: 'up' })
    await grace.feedback.set(message_id, { rating: 'up', reason: 'Short.' })
    await grace.feedback.set(message_id, { rating: 'down', reason: 'Wrong.' })
    expect(await ada.messages.get(message_id)).toMatchObject({ feedback: { rating: 'up' } })
    const { messages } = await grace.threads.tree(message_id)
    expect(messages[0]).toMatchObject({ feedback: { rating: 'down', reason: 'Wrong.' } })
    const { messages: all } = await grace.messages.list(conversation_id)
    expect(all.find(({ id }) => id === message_id)).toMatchObject({ feedback: { rating: 'down' } })

    const { feedback } = await root.feedback.list({ limit: 2 })
    expect(feedback).toEqual([
      { message_id, user_id: grace.id, rating: 'down', reason: 'Wrong.', at: expect.any(String) },
      { message_id, user_id: ada.id, rating: 'up', at: expect.any(String) },
    ])
    const first = await root.feedback.list({ limit: 1 })
    const { feedback: rest } = await root.feedback.list({ limit: 1, after: first.next_after! })
    expect([...first.feedback, ...rest]).toEqual(feedback)

    // Her erasure goes on: what she wrote is in no answer from its begin on.
    const { db } = innerState(service)
    await db.write((tx) =>
      tx.run(sql`INSERT INTO erased_authors (user_id, messages, erased_at) VALUES (${grace.id}, 'keep', 1)`),
    )
    expect((await root.feedback.list()).feedback).toEqual([feedback[1]])
    await db.write((tx) => tx.run(sql`DELETE FROM erased_authors`))

    await grace.feedback.remove(message_id)
    await grace.feedback.remove(message_id)
    expect(await grace.messages.get(message_id)).not.toHaveProperty('feedback')
    expect(await ada.messages.get(message_id)).toHaveProperty('feedback')
  })

  it('is in no event', async () => {
    const { ada, conversation_id, message_id } = await startAnswer()
    await ada.feedback.set(message_id, { rating: 'up' })
    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    await ada.messages.edit(message_id, { content: 'Because.' })
    const events = await stream.until('message.edited')
    await stream.close()
    expect(JSON.stringify(events)).not.toContain('rating')
  })

  it('is refused for other messages, deleted answers, outsiders and readers who may not write', async () => {
    const { ada, conversation_id, message_id } = await startAnswer()
    const { message_id: plain } = await ada.messages.postRoot(conversation_id, { content: 'Mine' })
    expect(await codeOf(ada.feedback.set(plain, { rating: 'up' }))).toBe('conflict')
    const outside = await service.signIn('outside')
    expect(await codeOf(outside.feedback.set(message_id, { rating: 'up' }))).toBe('not_found')
    expect(await codeOf(outside.feedback.list())).toBe('forbidden')
    const reader = await service.signIn('reader', ['read_only'])
    await ada.participants.add(conversation_id, { user_id: reader.id })
    expect(await codeOf(reader.feedback.set(message_id, { rating: 'up' }))).toBe('forbidden')
    await ada.feedback.set(message_id, { rating: 'up' })
    await ada.messages.remove(message_id)
    expect(await codeOf(ada.feedback.set(message_id, { rating: 'up' }))).toBe('message_deleted')
    expect(await ada.messages.get(message_id)).not.toHaveProperty('feedback')
    await ada.messages.restore(message_id)
    expect(await ada.messages.get(message_id)).toHaveProperty('feedback')
  })

  it('neither changes nor ends in a frozen conversation', async () => {
    const { ada, grace, conversation_id, message_id } = await startAnswer()
    await grace.feedback.set(message_id, { rating: 'up' })
    await ada.conversations.rename(conversation_id, { frozen: true })
    const frozen = { code: 'conflict', reason: 'frozen' }
    await expect(grace.feedback.set(message_id, { rating: 'down' })).rejects.toMatchObject(frozen)
    await expect(grace.feedback.remove(message_id)).rejects.toMatchObject(frozen)
    expect(await grace.messages.get(message_id)).toMatchObject({ feedback: { rating: 'up' } })
  })

  it('ends with the account of its user', async () => {
    const { ada, grace, message_id } = await startAnswer()
    await grace.feedback.set(message_id, { rating: 'down' })
    await root.users.erase(grace.id)
    const { feedback } = await root.feedback.list()
    expect(feedback.filter((each) => each.message_id === message_id)).toEqual([])
    expect(await ada.messages.get(message_id)).toMatchObject({ status: 'complete' })
  })

  it('marks answers as generated, edited ones too, and posts whose authors say so', async () => {
    const { ada, grace, conversation_id, message_id } = await startAnswer()
    expect(await grace.messages.get(message_id)).toMatchObject({ generated: true })
    await ada.messages.edit(message_id, { content: 'Because.' })
    expect(await grace.messages.get(message_id)).toMatchObject({ generated: true, edited_at: expect.any(String) })

    const posted = await ada.messages.postRoot(conversation_id, { content: 'A poem', generated: true })
    expect(posted.message).toMatchObject({ generated: true })
    const { message: reply } = await grace.messages.reply(posted.message_id, { content: 'Nice' })
    expect(reply).not.toHaveProperty('generated')
    await grace.messages.edit(reply.id, { content: 'Rewritten by a model', generated: true })
    const { messages } = await ada.threads.tree(posted.message_id)
    expect(messages.map(({ generated }) => generated)).toEqual([true, true])
    const { db } = innerState(service)
    const lines: string[] = []
    const write = (text: string) => void lines.push(...text.trimEnd().split('\n'))
    await exportArchive(db, write)
    await exportConversation(db, conversation_id, write)
    const marks = lines.flatMap((line) => {
      const { table, row } = JSON.parse(line)
      return table === 'messages' && row.id === message_id ? row.generated : []
    })
    expect(marks).toEqual([1, 1])
    await grace.messages.edit(reply.id, { content: 'By myself', generated: false })
    await ada.messages.remove(posted.message_id)
    const { messages: later } = await ada.threads.tree(posted.message_id)
    expect(later.map(({ generated }) => generated)).toEqual([undefined, undefined])
  })

  it('tells two posts with one key apart by their marks', async () => {
    const { ada, conversation_id } = await startThread(service)
    const post = (generated?: boolean) =>
      ada.messages.postRoot(
        conversation_id,
        { content: 'A poem', generated },
        { headers: { 'idempotency-key': 'a-poem' } },
      )
    const { message_id } = await post(true)
    expect(await post(true)).toMatchObject({ message_id, idempotency_replayed: 'true' })
    expect(await codeOf(post())).toBe('idempotency_mismatch')
  })
})

async function answered(person: Person, messageId: string): Promise<void> {
  await expect.poll(async () => (await person.messages.get(messageId)).status).toBe('complete')
}
