import { beforeAll, expect, it } from 'vitest'
import type { Commit } from '../../../lib/live/transaction/commits.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, type Person } from '../../support/service.ts'

describeService('commits', (service) => {
  const published: Commit[] = []
  const calls: string[] = []
  let ada: Person
  let conversation_id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
    conversation_id = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    const { commits } = innerState(service)
    commits.storeWith((tx, { additions }) => {
      calls.push(`stores ${additions.flatMap(({ events }) => events.map(({ type }) => type)).join()}`)
      if (calls.includes('refuse')) throw new Error('refused')
      tx.defer(Promise.resolve())
    })
    commits.subscribe(() => calls.push('first'))
    commits.subscribe((commit) => {
      calls.push('second')
      published.push(commit)
    })
  })

  it('are stored with before, and published after the events are durable, in the order of subscription', async () => {
    calls.length = 0
    published.length = 0
    await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    expect(calls).toEqual(['stores thread.new,message.new', 'first', 'second'])
    const [{ ranges, additions, audited, has_tasks }] = published as [Commit]
    const [{ first, last, known }] = ranges as [Commit['ranges'][number]]
    expect(last - first).toBe(1)
    expect(known.map(({ seq, event }) => [seq, event?.type])).toEqual([
      [first, 'thread.new'],
      [last, 'message.new'],
    ])
    expect([additions.length, audited.length, has_tasks]).toEqual([1, 0, false])
  })

  it('are published in the order of the log, also beside one that makes notifications', async () => {
    const grace = await service.signIn('grace')
    const { conversation_id: shared } = await ada.conversations.create({ title: 'Shared' })
    await ada.participants.add(shared, { user_id: grace.id })
    const direct = await ada.conversations.direct({ user_id: grace.id })
    const { message } = await ada.messages.postRoot(direct.conversation.id, { content: 'The first' })
    published.length = 0
    for (let round = 0; round < 4; round++) {
      const content = `Round ${round}`
      await Promise.all([ada.messages.postRoot(direct.conversation.id, { content }), ada.pins.add(message.id)])
      await ada.pins.remove(message.id)
    }
    const places = published.flatMap(({ ranges }) => ranges.map(({ first }) => first))
    expect(places).toHaveLength(12)
    expect(places).toEqual(places.toSorted((one, other) => one - other))
  })

  it('have the entries of the audit log and the tasks of their transaction', async () => {
    published.length = 0
    const room = await ada.conversations.create({ title: 'Removed' })
    await ada.conversations.remove(room.conversation_id)
    const commit = published.find(({ audited }) => audited.length > 0)
    expect(commit?.audited.map(({ entry }) => entry.act)).toEqual(['conversation.deleted'])
    expect(commit?.has_tasks).toBe(true)
  })

  it('are not published if a part cannot store what belongs to the change', async () => {
    calls.length = 0
    calls.push('refuse')
    const { write, now } = innerState(service)
    await expect(write(async (tx) => tx.advanceClock(conversation_id, now()))).rejects.toThrow('refused')
    expect(calls).not.toContain('first')
    calls.length = 0
  })
})
