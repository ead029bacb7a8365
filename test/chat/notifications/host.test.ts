import { beforeAll, beforeEach, expect, it } from 'vitest'
import type { HostNotification, Recipient } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { type Person, startService, times } from '../../support/service.ts'

interface Call {
  notification: HostNotification
  recipient: Recipient
}

describeOnEachDatabase('ports.notify', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      ports: {
        now: () => clock++,
        log: { debug() {}, info() {}, warn: (message) => warnings.push(message), error() {} },
        notify(notification, recipient) {
          calls.push({ notification, recipient })
          return respond({ notification, recipient })
        },
      },
    }),
  )
  let ada: Person
  let grace: Person
  let eve: Person
  let conversation_id: string
  const calls: Call[] = []
  const warnings: string[] = []
  let respond: (call: Call) => void | Promise<void> = () => {}
  let clock = Date.now() * 1000

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
  })
  beforeEach(async () => {
    respond = () => {}
    conversation_id = (await ada.conversations.create()).conversation_id
    for (const { id } of [grace, eve]) await ada.participants.add(conversation_id, { user_id: id })
    await idle()
    calls.length = warnings.length = 0
  })

  const idle = () => Promise.all(service.nodes.map((node) => node.idle()))

  /** The calls so far: the recipient and the kind of each. */
  async function told(): Promise<string[]> {
    await idle()
    const names = calls.splice(0).map(({ notification, recipient }) => `${recipient.username}: ${notification.kind}`)
    return names.sort()
  }

  it('is called with each notification, and with what the host needs of the recipient', async () => {
    const { message_id, root_id } = await ada.messages.postRoot(conversation_id, { content: 'Look at this, @grace' })
    await idle()
    const { notifications } = await grace.notifications.list({ unread: true, kind: 'mention' })
    expect(calls).toEqual([
      {
        notification: notifications[0],
        recipient: { user_id: grace.id, username: 'grace', email: grace.email },
      },
    ])
    expect(calls[0]!.notification).toMatchObject({ message_id, root_id, excerpt: 'Look at this, @grace' })
  })

  it('is called with every message for those whose level is all, without an id', async () => {
    await eve.conversations.setSettings(conversation_id, { level: 'all' })
    const root = await ada.messages.postRoot(conversation_id, { content: 'to all' })
    await idle()
    expect(calls.map(({ notification }) => notification)).toEqual([
      {
        ...{ kind: 'message', conversation_id, root_id: root.root_id, message_id: root.message_id },
        ...{ at: root.message.created_at, actor_user_id: ada.id, excerpt: 'to all' },
      },
    ])
    // Their own messages are none, and a notification comes instead of the message.
    await eve.messages.postRoot(conversation_id, { content: 'mine' })
    await ada.messages.postRoot(conversation_id, { content: 'for @eve' })
    calls.shift()
    expect(await told()).toEqual(['eve: mention'])
  })

  it('is called once in 30 seconds for the messages of a thread, and at once for each mention', async () => {
    await eve.conversations.setSettings(conversation_id, { level: 'all' })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'one' })
    for (const content of ['two', 'three', '@eve', '@eve again']) await ada.messages.reply(message_id, { content })
    expect(await told()).toEqual(['eve: mention', 'eve: mention', 'eve: message'])
    clock += 31_000_000
    // Since the first mention eve follows the thread: it notifies her.
    for (const content of ['four', 'five']) await ada.messages.reply(message_id, { content })
    expect(await told()).toEqual(['eve: reply'])
  })

  it('is called once in 30 seconds for a thread of a direct conversation', async () => {
    const { conversation_id: direct } = await ada.conversations.direct({ user_id: grace.id })
    const { message_id } = await ada.messages.postRoot(direct, { content: 'one' })
    await idle()
    await ada.messages.reply(message_id, { content: 'two' })
    expect(await told()).toEqual(['grace: direct'])
  })

  it('is silent for a muted conversation, and for the level none', async () => {
    await eve.conversations.setSettings(conversation_id, { level: 'all', muted_until: 'forever' })
    await grace.conversations.setSettings(conversation_id, { level: 'none' })
    await ada.messages.postRoot(conversation_id, { content: '@eve and @grace' })
    expect(await told()).toEqual([])
    expect((await eve.notifications.list({ unread: true, conversation: conversation_id })).notifications).not.toEqual(
      [],
    )
  })

  it('gets what is read after the commit: nothing of a message that is deleted by then', async () => {
    let release = () => {}
    const blocked = new Promise<void>((resolve) => {
      release = resolve
    })
    respond = () => blocked
    // As many calls as the host gets at the same time.
    for (const n of times(16, (index) => index))
      await ada.messages.postRoot(conversation_id, { content: `@grace ${n}` })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: '@eve' })
    await ada.messages.remove(message_id)
    release()
    expect(await told()).toEqual(times(16, () => 'grace: mention'))
  })

  it('fails alone: the log has a line, and the next one is called', async () => {
    respond = ({ recipient }) => {
      if (recipient.username === 'eve') throw new Error('push service is away')
    }
    await ada.messages.postRoot(conversation_id, { content: '@eve and @grace' })
    expect(await told()).toEqual(['eve: mention', 'grace: mention'])
    expect(warnings).toEqual(['ports.notify has failed'])
  })

  it('is called for what a transaction of several posts has made, once for each', async () => {
    await Promise.all(times(8, (n) => ada.messages.postRoot(conversation_id, { content: `@grace ${n}` })))
    expect(await told()).toEqual(times(8, () => 'grace: mention'))
  })
})
