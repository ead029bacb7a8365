import { expect, it, onTestFinished } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { PASSWORD, startService } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'
import { holdStorage, looksForChanges } from './held.ts'

describeOnEachDatabase('a stream of all conversations', (openUrl) => {
  it('has what follows in a conversation right after its user was added, also if both are read at once', async () => {
    const url = await openUrl()
    const held = holdStorage()
    const here = await startService(url)
    const there = await startService(url, { wrap: held.wrap })
    onTestFinished(() => Promise.all([here.close(), there.close()]).then(() => {}))
    const [ada, grace] = [await here.signIn('ada'), await here.signIn('grace')]
    const headers = await signInByHand(there.base_url, grace.email, PASSWORD)
    const stream = await openStream(there.base_url, undefined, headers)
    await stream.until('stream.ready')

    const look = held.hold(looksForChanges, 'before')
    await look.reached
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await ada.messages.postRoot(conversation_id, { content: 'welcome' })
    await ada.participants.remove(conversation_id, grace.id)
    await ada.messages.postRoot(conversation_id, { content: 'among us' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await ada.messages.postRoot(conversation_id, { content: 'back' })
    look.release()

    const seen = await stream.until(
      'message.new',
      (event) => event.type === 'message.new' && event.payload.message.content === 'back',
    )
    const posts = seen.flatMap(({ event }) => (event.type === 'message.new' ? [event.payload.message.content] : []))
    expect(posts).toEqual(['welcome', 'back'])
    await stream.close()
  })
})
