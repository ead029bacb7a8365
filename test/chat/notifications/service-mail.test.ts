import { beforeAll, expect, it } from 'vitest'
import { type Mail, OPERATOR } from '../../../lib/index.ts'
import { takeTime } from '../../../lib/mail/pace.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startService, times } from '../../support/service.ts'

describeOnEachDatabase('the mail of a notification', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), { ports: { mail: (mail) => void mails.push(mail) } }),
  )
  let ada: Person
  let grace: Person
  let conversation_id: string
  const mails: Mail[] = []

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    conversation_id = (await ada.conversations.create()).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await service.idle()
    mails.length = 0
  })

  const order = (notification_id: string, link?: string) => ({ user_id: grace.id, notification_id, link })

  async function mention(content: string) {
    const { message_id, root_id } = await ada.messages.postRoot(conversation_id, { content })
    const { notifications } = await grace.notifications.list({ unread: true })
    return { message_id, root_id, id: notifications[0]!.id }
  }

  it('has the name of who wrote, the beginning of the message, and the link', async () => {
    const { id } = await mention('Look, @grace')
    const { sendMail } = service.chat.notifications
    expect(await sendMail(OPERATOR, order(id, 'https://app.example.org/chat'))).toBe(true)
    await service.idle()
    expect(mails.splice(0)).toEqual([
      expect.objectContaining({
        kind: 'notification',
        to: grace.email,
        subject: 'ada mentioned you',
        text: 'ada mentioned you:\n\nLook, @grace\n\nhttps://app.example.org/chat\n',
        token: '',
      }),
    ])
  })

  it('names no erased user, and calls none the assistant', async () => {
    const { sendMail } = service.chat.notifications
    const alan = await service.signIn('alan')
    await ada.participants.add(conversation_id, { user_id: alan.id })
    await alan.messages.postRoot(conversation_id, { content: 'Bye, @grace' })
    const question = { content: 'What about @grace?', role: 'assistant' as const }
    const asked = await alan.messages.postRoot(conversation_id, question)
    const own = await grace.messages.postRoot(conversation_id, { content: 'And me?', role: 'assistant' })
    await service.idle()
    const { notifications } = await grace.notifications.list({ unread: true, limit: 3 })
    expect(notifications.map(({ message_id }) => message_id)).toContain(own.message_id)
    expect(notifications.map(({ message_id }) => message_id)).toContain(asked.message_id)
    mails.length = 0
    await ada.users.erase(alan.id, { messages: 'keep' })
    for (const { id } of notifications) await sendMail(OPERATOR, order(id))
    await service.idle()
    expect(
      mails
        .splice(0)
        .map(({ subject }) => subject)
        .sort(),
    ).toEqual(['Someone mentioned you', 'Someone mentioned you', 'The assistant replied to you'])
    const excerpts = (await grace.notifications.list({ unread: true, limit: 3 })).notifications.map(
      (each) => each.excerpt,
    )
    expect(excerpts).toEqual(notifications.map(({ excerpt }) => excerpt))
  })

  it('says so if it quotes generated text', async () => {
    const { sendMail } = service.chat.notifications
    await ada.messages.postRoot(conversation_id, { content: 'A poem for @grace', generated: true })
    const { notifications } = await grace.notifications.list({ unread: true })
    mails.length = 0
    await sendMail(OPERATOR, order(notifications[0]!.id))
    await service.idle()
    expect(mails.splice(0)).toEqual([
      expect.objectContaining({ generated: true, text: expect.stringContaining('[AI] A poem for @grace') }),
    ])
  })

  it('is not sent for a notification that is read, of another user, or of none', async () => {
    const { id, root_id } = await mention('@grace again')
    await grace.threads.markRead(root_id)
    const { sendMail } = service.chat.notifications
    for (const notification_id of [id, grace.id]) await sendMail(OPERATOR, order(notification_id))
    const unread = await mention('@grace once more')
    await sendMail(OPERATOR, { ...order(unread.id), user_id: ada.id })
    await service.idle()
    expect(mails).toEqual([])
  })

  it('is for administrators, and refuses a link that is none', async () => {
    const { id } = await mention('hello @grace')
    const { chat } = service
    const actor = await chat.users.actor(grace.id)
    expect(await codeOf(chat.notifications.sendMail(actor, order(id)))).toBe('forbidden')
    for (const link of ['javascript:alert(1)', 'no link', `https://example.org/${'x'.repeat(2048)}`])
      expect(await codeOf(chat.notifications.sendMail(OPERATOR, order(id, link)))).toBe('validation_failed')
  })

  it('comes five times at once, then five times an hour, and delays no other mail', async () => {
    const { db, now } = innerState(service)
    const at = now()
    const timeOf = (kind: 'notification' | 'password_changed') => takeTime(db, kind, 'full@example.org', at)
    const waits: (number | undefined)[] = []
    for (const _ of times(126, (n) => n)) {
      const time = await timeOf('notification')
      waits.push(time && Math.round((time - at) / 60_000_000))
    }
    expect(waits.slice(0, 8)).toEqual([0, 0, 0, 0, 0, 12, 24, 36])
    expect(waits.slice(124)).toEqual([24 * 60, undefined])
    expect(await timeOf('password_changed')).toBe(at)
  })
})

it('without mail nothing is queued', async () => {
  const service = await startService('sqlite::memory:')
  const { id } = await service.signIn('grace')
  expect(await service.chat.notifications.sendMail(OPERATOR, { user_id: id, notification_id: id })).toBe(false)
  await service.close()
})
