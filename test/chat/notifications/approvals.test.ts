import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Assistant } from '../../../lib/assistant/provider.ts'
import { type ApprovalOptions, defineTool } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { type Person, startService, type TestService } from '../../support/service.ts'

const ANY = {
  json_schema: { type: 'object' },
  validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
}

describeOnEachDatabase('notifications of approvals', (openUrl) => {
  const services: TestService[] = []
  let url: string
  let told: string[] = []

  beforeEach(async () => {
    url = await openUrl()
    told = []
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close()
  })

  /** Grace has asked in a room of Ada, in which Bob writes too; the model calls the tool in each of its first steps. */
  async function ask(approval: ApprovalOptions, { calls = 1, steps = 1 } = {}) {
    const assistant: Assistant = async function* ({ step }) {
      if (step > steps) yield 'Paid.'
      else for (let n = 0; n < calls; n++) yield { tool_call: { name: 'pay', input: { step, n } } }
    }
    const pay = defineTool({ description: 'Pays', input: ANY, approval, run: () => true })
    const service = await startService(url, {
      config: { assistant: { tools: ['pay'], drain_seconds: 0 } },
      ports: {
        assistant,
        tools: { pay },
        notify: ({ kind }, { username }) => void told.push(`${username}: ${kind}`),
      },
    })
    services.push(service)
    const [ada, grace, bob] = [await service.signIn('ada'), await service.signIn('grace'), await service.signIn('bob')]
    const { conversation_id } = await ada.conversations.create()
    for (const { id } of [grace, bob]) await ada.participants.add(conversation_id, { user_id: id })
    const { message_id } = await grace.messages.postRoot(conversation_id, { content: 'Pay', role: 'assistant' })
    const waiting = async () => {
      await vi.waitUntil(async () => (await grace.messages.get(message_id)).status === 'waiting', { timeout: 30_000 })
      await service.idle()
      return (await ada.approvals.list({ state: 'waiting' })).approvals.map(({ call_id }) => call_id)
    }
    const inbox = async (who: Person, unread = true) =>
      (await who.notifications.list({ conversation: conversation_id, unread })).notifications
        .filter(({ kind }) => kind !== 'added')
        .map(({ kind }) => kind)
    const ended = async () => {
      await vi.waitUntil(async () => (await grace.messages.get(message_id)).status === 'complete', { timeout: 30_000 })
      await service.idle()
    }
    const sound = async () => expect((await service.chat.ops.fsck()).findings).toEqual([])
    return { service, ada, grace, bob, conversation_id, message_id, waiting, inbox, ended, sound }
  }

  it('tell those who may decide once of all calls of an answer, and are read by the last outcome', async () => {
    const world = await ask({ by: 'members' }, { calls: 2 })
    const { ada, grace, bob, message_id, waiting, inbox, ended, sound } = world
    const [one, two] = await waiting()
    for (const who of [ada, grace, bob]) expect(await inbox(who)).toEqual(['approval'])
    const { notifications } = await bob.notifications.list({ kind: 'approval' })
    expect(notifications).toMatchObject([{ id: message_id, message_id }])
    expect(notifications[0]).not.toHaveProperty('actor_user_id')
    expect(told.filter((each) => each.endsWith('approval')).sort()).toEqual([
      'ada: approval',
      'bob: approval',
      'grace: approval',
    ])
    await sound()
    await ada.approvals.decide(one!, { approve: true })
    expect(await inbox(bob)).toEqual(['approval'])
    await bob.approvals.decide(two!, { approve: false })
    expect([await inbox(ada), await inbox(bob)]).toEqual([[], []])
    expect(await inbox(bob, false)).toEqual(['approval'])
    await ended()
    // Of the asker, it becomes the reply.
    expect(await inbox(grace, false)).toEqual(['reply'])
    expect((await grace.conversations.get(world.conversation_id)).mentions).toBe(1)
    expect(told).toContain('grace: reply')
    await sound()
  })

  it('tell neither members without the right, nor those with the level none', async () => {
    const { ada, grace, bob, waiting, inbox } = await ask({ by: 'admins' })
    await waiting()
    expect([await inbox(ada), await inbox(grace), await inbox(bob)]).toEqual([['approval'], [], []])
  })

  it('are made again for the calls of a later step', async () => {
    const { ada, grace, waiting, inbox, ended, sound } = await ask({ by: 'asker' }, { steps: 2 })
    const [first] = await waiting()
    await grace.approvals.decide(first!, { approve: true })
    await vi.waitUntil(async () => (await grace.approvals.list({ state: 'waiting' })).approvals.length === 1, {
      timeout: 30_000,
    })
    const [second] = await waiting()
    expect(second).not.toBe(first)
    expect([await inbox(grace), await inbox(ada)]).toEqual([['approval'], ['approval']])
    await sound()
    await grace.approvals.decide(second!, { approve: true })
    await ended()
    expect([await inbox(grace, false), await inbox(ada)]).toEqual([['reply'], []])
    await sound()
  })

  it('are read when the answer is stopped, and hidden with a message that is deleted', async () => {
    const { grace, bob, message_id, waiting, inbox, sound, conversation_id } = await ask({ by: 'members' })
    await waiting()
    await grace.answers.cancel(message_id)
    expect([await inbox(bob), (await bob.conversations.get(conversation_id)).mentions ?? 0]).toEqual([[], 0])
    await grace.messages.remove(message_id)
    expect(await inbox(bob, false)).toEqual([])
    await sound()
  })
})
