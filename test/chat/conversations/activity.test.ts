import { beforeAll, expect, it } from 'vitest'
import { FIND_ACTIVITY } from '../../../lib/storage/schema/0019-people.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import type { Person } from '../../support/service.ts'
import { innerState } from '../../support/service.ts'

describeService('the order of conversations', (service) => {
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  const create = async (title: string) => (await ada.conversations.create({ title })).conversation_id
  const list = async () => (await ada.conversations.list({})).conversations

  it('is that of their latest messages: nothing else that happens in one moves it', async () => {
    const first = await create('first')
    const { message_id, root_id } = await ada.messages.postRoot(first, { content: 'Hi' })
    const second = await create('second')
    await ada.messages.postRoot(second, { content: 'Hi' })
    const before = await list()
    expect(before.map(({ title }) => title)).toEqual(['second', 'first'])

    await ada.messages.edit(message_id, { content: 'Hello' })
    await ada.messages.remove(message_id)
    await ada.messages.restore(message_id)
    await ada.conversations.rename(first, { metadata: { mood: 'good' } })
    await ada.participants.add(first, { user_id: grace.id })
    await grace.threads.markRead(root_id, {})
    await ada.participants.changeRole(first, grace.id, { role: 'admin' })
    const last_message = { ...before[1]!.last_message, excerpt: 'Hello' }
    const changed = { metadata: { mood: 'good' }, participant_count: 2, last_message }
    expect(await list()).toEqual([before[0], { ...before[1]!, ...changed }])

    const { message } = await grace.messages.reply(message_id, { content: 'Hello Ada' })
    expect(await list()).toMatchObject([{ title: 'first', last_activity_at: message.created_at }, { title: 'second' }])
  })

  it('is kept from page to page while conversations become active', async () => {
    await create('third')
    const { conversations, next_after } = await ada.conversations.list({ limit: 1 })
    expect(conversations).toMatchObject([{ title: 'third' }])
    await ada.messages.postRoot(conversations[0]!.id, { content: 'again' })
    const rest = await ada.conversations.list({ limit: 1, after: next_after! })
    expect(rest.conversations).toMatchObject([{ title: 'first' }])
    expect((await ada.conversations.list({ after: rest.next_after! })).conversations).toMatchObject([
      { title: 'second' },
    ])
  })

  it('is found for conversations of an older version', async () => {
    const before = await list()
    const { db } = innerState(service)
    await db.run(sql`UPDATE conversations SET active_at = NULL`)
    await db.run(FIND_ACTIVITY)
    expect(await list()).toEqual(before)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
