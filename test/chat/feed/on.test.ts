import { expect, it } from 'vitest'
import type { EventAfter } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { startService } from '../../support/service.ts'

describeOnEachDatabase('chat.on', (openUrl) => {
  it('calls a function with the new events of a type that this process has written, each with the id of the feed', async () => {
    const url = await openUrl()
    const hooked: EventAfter[] = []
    const service = await startService(url, { ports: { hooks: { afterEvent: (event) => void hooked.push(event) } } })
    const node = await startService(url)
    const seen: EventAfter[] = []
    const elsewhere: string[] = []
    const off = service.chat.on('message.new', (event) => void seen.push(event))
    node.chat.on('message.new', ({ payload }) => void elsewhere.push(payload.message.content))
    const ada = await service.signIn('ada')
    const actor = await service.chat.users.actor(ada.id)
    const { conversation_id } = await service.chat.conversations.create(actor, {})
    const { position } = await service.chat.feed.read(actor)
    await service.chat.messages.postRoot(actor, conversation_id, { content: 'here' })
    await node.chat.messages.postRoot(actor, conversation_id, { content: 'there' })
    await Promise.all([service.chat.idle(), node.chat.idle()])
    off()
    off()
    await service.chat.messages.postRoot(actor, conversation_id, { content: 'after' })
    await service.chat.idle()
    expect(seen).toEqual(hooked.filter(({ type }) => type === 'message.new').slice(0, 1))
    expect(seen[0]).toBe(hooked.find(({ type }) => type === 'message.new'))
    expect(elsewhere).toEqual(['there'])
    const { events } = await node.chat.feed.read(actor, { after: position, types: 'message.new' })
    expect(events.map(({ id }) => id)).toContain(seen[0]!.id)
    await Promise.all([service.close(), node.close()])
  })

  it('refuses a type that no event has, and what is no function', async () => {
    const service = await startService(await openUrl())
    expect(() => service.chat.on('message.nwe' as never, () => {})).toThrow('did you mean "message.new"?')
    expect(() => service.chat.on('message.new', undefined as never)).toThrow(TypeError)
    await service.close()
  })
})
