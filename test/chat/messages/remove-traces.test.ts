import { beforeAll, expect, it } from 'vitest'
import type { ConversationStreamEvent, Message } from '../../../lib/client/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { listEventsAfter } from '../../support/events-after.ts'
import type { Person } from '../../support/service.ts'
import { innerState } from '../../support/service.ts'

/** Applies an event to the messages of a client. */
function fold(messages: Map<string, Message>, { type, payload }: ConversationStreamEvent): void {
  if ('message' in payload && typeof payload.message === 'object') messages.set(payload.message.id, payload.message)
  if (type === 'reactions.changed') {
    const { reactions: _, ...message } = messages.get(payload.message_id)!
    const { reactions } = payload
    messages.set(message.id, { ...message, ...(reactions.length > 0 && { reactions }) })
  }
  if (type === 'pin.changed') {
    const { user_id: by, at, action } = payload
    const { pinned: _, ...message } = messages.get(payload.message_id)!
    messages.set(message.id, { ...message, ...(action === 'added' && { pinned: { ...(by && { by }), at } }) })
  }
}

describeService('an erased user, in the messages of others', (service) => {
  let ada: Person
  let conversation_id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    conversation_id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
  })

  async function read(): Promise<{ messages: Map<string, Message>; position: string }> {
    const { stream_position } = await ada.conversations.get(conversation_id)
    const { threads } = await ada.threads.list(conversation_id)
    const trees = await Promise.all(threads.map(({ root_id }) => ada.threads.tree(root_id)))
    const messages = new Map(trees.flatMap((tree) => tree.messages).map(({ reacted: _, ...each }) => [each.id, each]))
    return { messages, position: stream_position! }
  }

  it.each(['keep', 'erase'] as const)(
    'is named by no event, and a client that follows the events has what reads return (%s)',
    async (messages) => {
      const name = `grace-${messages}`
      const grace = await service.signIn(name)
      await ada.participants.add(conversation_id, { user_id: grace.id })
      const begin = await read()
      const post = async (content: string) => (await ada.messages.postRoot(conversation_id, { content })).message_id
      const mentioning = [await post(`Hi @${name}`), await post(`@${name} and @ada`)]
      const edited = await post('Hi')
      await ada.messages.edit(edited, { content: 'Hi', mentions: { user_ids: [grace.id] } })
      const gone = await post(`Bye @${name}`)
      for (const id of [mentioning[0]!, edited, gone]) await grace.pins.add(id)
      await grace.pins.add(mentioning[1]!)
      await grace.pins.remove(mentioning[1]!)
      await ada.pins.add(mentioning[1]!)
      await grace.reactions.add(edited, '👍')
      await ada.reactions.add(edited, '👍')
      await ada.messages.remove(gone)
      const middle = await read()
      expect(middle.messages.get(edited)).toMatchObject({
        pinned: { by: grace.id },
        mentions: { user_ids: [grace.id] },
      })

      await ada.users.erase(grace.id, { messages })
      await innerState(service).tasks.settle()
      const end = await read()
      const { by: _, ...pinned } = middle.messages.get(edited)!.pinned!
      expect(end.messages.get(edited)!.pinned).toEqual(pinned)
      expect(end.messages.get(mentioning[1]!)!.pinned).toMatchObject({ by: ada.id })
      for (const each of end.messages.values()) expect(each).not.toHaveProperty('mentions')
      for (const { messages, position } of [begin, middle]) {
        const events = await listEventsAfter(ada, conversation_id, position)
        const naming = events.filter((event) => JSON.stringify(event).includes(grace.id))
        expect(new Set(naming.map(({ type }) => type))).toEqual(new Set(['membership.changed']))
        for (const event of events) fold(messages, event)
        expect(messages).toEqual(end.messages)
      }
      await ada.messages.restore(gone)
      const restored = await ada.messages.get(gone)
      expect(restored).not.toHaveProperty('mentions')
      expect(restored.pinned).toEqual({ at: expect.any(String) })
      expect((await service.chat.ops.fsck()).findings).toEqual([])
    },
  )
})
