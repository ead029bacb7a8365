import { beforeAll, expect, it } from 'vitest'
import type { Actor, ConversationStreamEvent } from '../../lib/index.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { innerState, startService } from '../support/service.ts'
import { type HeldStorage, holdStorage, readsLog } from './held.ts'

describeOnEachDatabase('the events of a new thread', (openUrl) => {
  const held: HeldStorage = holdStorage()
  const service = setUpService(async () =>
    startService(await openUrl(), {
      wrap: held.wrap,
      config: { presence: { broadcast_participants: 0 } },
    }),
  )
  let ada: Actor
  let grace: Actor
  let conversation_id: string
  beforeAll(async () => {
    ada = await service.chat.users.actor((await service.signIn('ada')).id)
    grace = await service.chat.users.actor((await service.signIn('grace')).id)
    conversation_id = (await service.chat.conversations.create(ada, {})).conversation_id
    await service.chat.participants.add(ada, conversation_id, { user_id: grace.user_id })
    // Only what a commit makes it read.
    await innerState(service).streams.poller.stop()
  })

  /** The next events of the log, up to the message of an answer or of a post. */
  async function read(stream: AsyncIterable<{ event: ConversationStreamEvent; id?: string }>) {
    const events: ConversationStreamEvent[] = []
    for await (const { event, id } of stream) {
      if (id !== undefined && event.type !== 'stream.ready') events.push(event)
      if (event.type === 'message.new') break
    }
    return events
  }

  it.each<[string, object]>([
    ['a short text', { content: 'hello' }],
    ['a text of 140 characters', { content: 'x'.repeat(140) }],
    ['a long text', { content: 'word '.repeat(100) }],
    ['characters beyond the BMP', { content: `${'🦉'.repeat(139)}😀y🦉` }],
    ['composed characters', { content: '👩‍👩‍👧'.repeat(60) }],
    ['metadata and a mention', { content: 'hello @grace', metadata: { a: [1, '"'] } }],
    ['a question to the assistant', { content: 'what is an engine?', role: 'assistant' }],
  ])('of %s are delivered as a replay has them, without a read of the log', async (_, post) => {
    const { messages, events } = service.chat
    const stream = events.follow(grace, conversation_id)
    const { value } = await stream.next()
    const from = value!.id!
    const before = held.count(readsLog())
    const { root_id } = await messages.postRoot(ada, conversation_id, { role: 'user', ...post } as never)
    const live = await read(stream)
    expect(held.count(readsLog()) - before).toBe(0)
    expect(live.map(({ type }) => type)).toEqual(['thread.new', 'message.new'])
    await service.idle()
    const replayed = await read(events.follow(grace, conversation_id, { last_event_id: from }))
    const withoutAnswer = (event: ConversationStreamEvent) => {
      // An answer is an activity of its thread.
      if (event.type === 'thread.new') delete (event.payload.summary as { last_activity_at?: string }).last_activity_at
      return event
    }
    expect(live.map(withoutAnswer)).toEqual(replayed.map(withoutAnswer))
    expect(live[0]).toMatchObject({ payload: { root_id } })
    await stream.return(undefined)
  })
})
