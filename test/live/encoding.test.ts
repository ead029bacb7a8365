import { beforeAll, expect, it } from 'vitest'
import type { Opening } from '../../lib/chat/events/service.ts'
import type { Actor } from '../../lib/core/actor.ts'
import { newId } from '../../lib/core/ids.ts'
import type { Delivery } from '../../lib/live/readers/delivery.ts'
import { describeService } from '../support/describe-service.ts'
import { innerState, startThread } from '../support/service.ts'
import { soon } from './readers.ts'

const READERS = 3

describeService('an ephemeral event to some users', (service) => {
  let ada: Actor
  let conversation_id: string
  beforeAll(async () => {
    const thread = await startThread(service)
    conversation_id = thread.conversation_id
    ada = await service.chat.users.actor(thread.ada.id)
  })

  /** The typing events that live streams of Ada have got. */
  async function openReaders(open: () => Promise<Opening>): Promise<{ typing: () => Delivery[]; leave: () => void }> {
    const got: Delivery[] = []
    const leaves: (() => void)[] = []
    for (let i = 0; i < READERS; i++) {
      const opening = await open()
      const write = (delivery: Delivery) => void got.push(delivery)
      leaves.push(opening.connect({ write, pending: () => 0, drained: () => Promise.resolve(), end() {} }))
    }
    const ofType = (type: string) => got.filter(({ events }) => events.some(({ event }) => event.type === type))
    await soon(() => expect(ofType('stream.ready')).toHaveLength(READERS))
    // A stream that has got a message is live.
    await service.chat.messages.postRoot(ada, conversation_id, { content: 'x' })
    await soon(() => expect(ofType('message.new')).toHaveLength(READERS))
    const leave = () => {
      for (const each of leaves) each()
    }
    return { typing: () => ofType('typing.update'), leave }
  }

  it.each(['a conversation', 'all conversations'])('is encoded once for the streams of %s', async (of) => {
    const { events } = service.chat
    const readers = await openReaders(() =>
      of === 'a conversation' ? events.open(ada, conversation_id, {}) : events.openAll(ada, {}),
    )
    // Of another user than the one who has just posted: a post ends the author's typing.
    const payload = { conversation_id, user_id: newId(), expires_at: '2026-01-01T00:00:00.000Z' }
    const event = { type: 'typing.update' as const, payload }
    for (const to of [{ user_id: ada.user_id }, { except_ids: ['another'] }]) {
      const before = readers.typing().length
      innerState(service).streams.hub.receive([{ conversation_id, event, ...to }])
      await soon(() => expect(readers.typing()).toHaveLength(before + READERS))
      expect(
        new Set(
          readers
            .typing()
            .slice(before)
            .map(({ bytes }) => bytes),
        ).size,
      ).toBe(1)
    }
    readers.leave()
  })
})
