import { afterEach, beforeAll, expect, it } from 'vitest'
import type { ReceivedEvent } from '../../../lib/client/index.ts'
import { type Held, holdStorage, looksForChanges } from '../../live/held.ts'
import { headersOf, poll, typesOf } from '../../live/readers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { innerState, type Person, startService } from '../../support/service.ts'
import { openStream, type TestStream } from '../../support/stream.ts'

const config = {
  access: { roles: { blind: { post: true } } },
  sse: { max_streams_per_user: 100 },
  // Each stream is of a sign-in of its own.
  session: { max_sessions_per_user: false as const },
}

describeOnEachDatabase('the stream of an open room, on a node that learns late of a change', (openUrl) => {
  const held = holdStorage()
  const [here, there] = setUpNodes(async () => {
    const url = await openUrl()
    return [await startService(url, { config }), await startService(url, { config, wrap: held.wrap })]
  })
  let ada: Person
  let grace: Person
  let stream: TestStream
  let conversation_id: string
  let look: Held
  beforeAll(async () => {
    ada = await here.signIn('ada')
    grace = await here.signIn('grace')
    // It looks, also at rights, only when the test says so.
    await poller().stop()
  })
  afterEach(async () => {
    held.reset()
    await stream.close()
  })

  const poller = () => innerState(there).streams.poller

  /** Opens a room, and a stream of it there; that node sees no change from now on, until `look` is released. */
  async function begin(reader: Person): Promise<void> {
    const room = await ada.conversations.create({ title: 'Engines', visibility: 'open', policy: { join: 'anyone' } })
    conversation_id = room.conversation_id
    stream = await openStream(there.base_url, conversation_id, await headersOf(here, reader))
    await stream.until('stream.ready')
    // The first look is one at everything.
    await poll(there.chat)
    // However slow this is: rights that are not known to be fresh would be looked up with the next delivery.
    innerState(there).streams.hub.rights.knownAt(performance.now() + 60_000)
    look = held.hold(looksForChanges, 'before')
    void poller().poll()
    await look.reached
  }

  const asAda = () => there.chat.users.actor(ada.id)

  /** Makes the other node read the log of the conversation, without a look at what has changed. */
  const type = async () => there.chat.presence.setTyping(await asAda(), { conversation_id, seconds: 5 })

  const hide = () => ada.conversations.rename(conversation_id, { visibility: 'private', policy: { join: null } })
  const has = (text: string) => (events: ReceivedEvent[]) => JSON.stringify(events).includes(text)

  it('sends nothing with the change that hides the room: texts before it may be newer', async () => {
    await begin(grace)
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'for all' })
    await hide()
    await ada.messages.edit(message_id, { content: 'among us' })
    await type()
    const events = await stream.until('stream.closed')
    expect(typesOf(events)).toEqual(['stream.closed'])
    expect(events.at(-1)!.event.payload).toEqual({ reason: 'removed' })
  })

  it.each(['the room is hidden', 'its reader may browse no longer'])(
    'ends without what the log has by then, once %s',
    async (change) => {
      const isHidden = change === 'the room is hidden'
      const reader = isHidden ? grace : await here.signIn('lovelace')
      await begin(reader)
      if (isHidden) await hide()
      else await ada.users.change(reader.id, { roles: ['blind'] })
      await ada.messages.postRoot(conversation_id, { content: 'among us' })
      await innerState(there).streams.hub.rights.recheckAll()
      expect(typesOf(await stream.until('stream.closed'))).toEqual(['stream.closed'])
    },
  )

  it('stays one from outside for a user who has joined and left meanwhile', async () => {
    await begin(grace)
    await grace.conversations.join(conversation_id)
    await grace.conversations.leave(conversation_id)
    await type()
    look.release()
    await stream.until('membership.changed', (event) => has('removed')([{ event } as ReceivedEvent]))
    await type()
    await innerState(there).streams.hub.rights.recheckAll()
    await ada.messages.postRoot(conversation_id, { content: 'to be read' })
    expect(typesOf(await stream.until('message.new'))).toEqual(['thread.new', 'message.new'])
  })

  it('is one of a participant for a user who has joined, left and joined again meanwhile', async () => {
    await begin(grace)
    for (const act of ['join', 'leave', 'join'] as const) await grace.conversations[act](conversation_id)
    await there.chat.messages.postRoot(await asAda(), conversation_id, { content: 'read with what was before' })
    const changes = typesOf(await stream.until('message.new')).filter((name) => name === 'membership.changed')
    expect(changes).toHaveLength(3)
    await type()
    await stream.until('typing.update')
  })
})
