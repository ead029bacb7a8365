import { beforeAll, expect, it } from 'vitest'
import type { ConversationStreamEvent } from '../../../lib/client/index.ts'
import { exportArchive } from '../../../lib/storage/archive/export.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, type Person, startThread } from '../../support/service.ts'

describeService('the reactions of an erased user', (service) => {
  let ada: Person
  let grace: Person
  let conversation_id: string
  let ids: string[]
  beforeAll(async () => {
    ;({ ada, grace, conversation_id } = await startThread(service))
    ids = []
    for (const content of ['one', 'two', 'three', 'of grace'])
      ids.push(
        (await (content === 'of grace' ? grace : ada).messages.postRoot(conversation_id, { content })).message_id,
      )
    for (const id of ids) await grace.reactions.add(id, '👍')
    await ada.reactions.add(ids[0]!, '👍')
    await ada.reactions.add(ids[3]!, '❤')
    await grace.reactions.add(ids[0]!, '🎉')
    await ada.messages.remove(ids[2]!)
  })

  it('are removed, with an event for each message that does not name the user', async () => {
    const { stream_position } = await ada.conversations.get(conversation_id)
    await ada.users.erase(grace.id, { messages: 'erase' })
    expect((await ada.messages.get(ids[0]!)).reactions).toEqual([{ emoji: '👍', count: 1, user_ids: [ada.id] }])
    expect((await ada.messages.get(ids[1]!)).reactions).toBeUndefined()
    await innerState(service).tasks.settle()

    const changed: ConversationStreamEvent[] = []
    for await (const { event } of ada.events.follow(conversation_id, { last_event_id: stream_position! })) {
      if (event.type === 'reactions.changed') changed.push(event)
      // The last of her messages.
      if (event.type === 'message.deleted') break
    }
    expect(changed.map(({ payload }) => payload)).toEqual(
      ids.map((message_id) => ({
        message_id,
        root_id: message_id,
        conversation_id,
        action: 'removed',
        reactions: message_id === ids[0] ? [{ emoji: '👍', count: 1, user_ids: [ada.id] }] : [],
      })),
    )
    await ada.messages.restore(ids[2]!)
    expect((await ada.messages.get(ids[2]!)).reactions).toBeUndefined()
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('are in no archive, nor are those to erased messages', async () => {
    let archive = ''
    await exportArchive(innerState(service).db, (lines) => {
      archive += lines
    })
    const rows = archive.split('\n').filter((line) => line.includes('"table":"reactions"'))
    expect(rows).toHaveLength(1)
    expect(rows[0]).toContain(ada.id)
  })
})
