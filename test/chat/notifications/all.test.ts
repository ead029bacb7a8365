import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { insertUser } from '../../../lib/accounts/users/store-naming.ts'
import { insertParticipant } from '../../../lib/chat/memberships/store.ts'
import { type Actor, type Chat, createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, times } from '../../support/service.ts'

/** More than one transaction notifies, and more than one batch of the task. */
const PEOPLE = 260

describeOnEachDatabase('@all in a large conversation', (openUrl) => {
  let url: string
  let chat: Chat
  let people: Actor[]
  let ada: Actor
  let grace: Actor
  let conversation_id: string

  // Without background work: what happens before the task runs is up to the test.
  beforeEach(async () => {
    url = await openUrl()
    chat = await open(false)
    await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
    ada = await chat.users.actor((await chat.users.list(OPERATOR)).users[0]!.id)
    conversation_id = (await chat.conversations.create(ada)).conversation_id
    people = await addPeople(chat, conversation_id)
    grace = people[0]!
  })

  async function open(background: boolean): Promise<Chat> {
    const storage = await openStorage({ database: url, strict: true })
    const service = createChatService(parseConfig({ security: { password: { bcrypt_cost: 4 } } }), storage)
    onTestFinished(() => service.close())
    await service.start({ background })
    return service
  }

  const settle = () => innerState(chat).tasks.settle()
  const post = (content: string) => chat.messages.postRoot(ada, conversation_id, { content })
  const inbox = async (actor: Actor) => (await chat.notifications.list(actor)).notifications.map(({ kind }) => kind)
  const mentionsOf = async (actor: Actor) => (await chat.conversations.list(actor)).conversations[0]!.mentions
  const unreadOf = async (actor: Actor) => (await chat.notifications.list(actor)).unread
  const expectConsistent = async () => expect((await chat.ops.fsck()).findings).toEqual([])

  it('notifies each participant once, by a task', async () => {
    await chat.conversations.setSettings(people[1]!, conversation_id, { level: 'none' })
    await chat.conversations.setSettings(people[2]!, conversation_id, { archived: true })
    const { message_id } = await post('@all and @person-3, look')
    expect(await Promise.all([grace, people[3]!].map(inbox))).toEqual([[], ['mention']])
    await settle()
    const inboxes = await Promise.all(people.map(inbox))
    expect(inboxes.map((kinds) => kinds.join())).toEqual(
      people.map((_, n) => (n === 1 ? '' : n === 3 ? 'mention' : 'mention_all')),
    )
    expect([await mentionsOf(grace), await unreadOf(grace), await inbox(ada)]).toEqual([1, 1, []])
    expect((await chat.notifications.list(grace)).notifications).toMatchObject([
      {
        message_id,
        root_id: message_id,
        conversation_id,
        actor_user_id: ada.user_id,
        excerpt: '@all and @person-3, look',
      },
    ])
    expect((await chat.conversations.list(people[2]!)).conversations).toHaveLength(1)
    await expectConsistent()
  })

  it('notifies no participant of a message that was deleted meanwhile, until it is restored', async () => {
    const { message_id } = await post('@all')
    await chat.messages.remove(ada, message_id, {})
    await settle()
    expect([await inbox(grace), await mentionsOf(grace)]).toEqual([[], 0])
    await expectConsistent()
    await chat.messages.restore(ada, message_id)
    expect([await inbox(grace), await mentionsOf(grace), await unreadOf(grace)]).toEqual([['mention_all'], 1, 1])
    await expectConsistent()
  })

  it('decides anew after an edit', async () => {
    const { message_id } = await post('@all')
    await chat.messages.edit(ada, message_id, { content: 'nobody' })
    await settle()
    expect(await inbox(grace)).toEqual([])
    for (const content of ['@all, after all', 'nobody', '@all']) await chat.messages.edit(ada, message_id, { content })
    await settle()
    expect([await inbox(grace), await mentionsOf(grace)]).toEqual([['mention_all'], 1])
    await chat.messages.edit(ada, message_id, { content: 'nobody' })
    expect([await inbox(grace), await mentionsOf(grace)]).toEqual([[], 0])
    await expectConsistent()
  })

  it('stores a notification as read for a participant who has read the message meanwhile', async () => {
    const { root_id } = await post('@all')
    await chat.threads.markRead(grace, root_id, {})
    await settle()
    const { notifications, unread } = await chat.notifications.list(grace)
    expect([notifications, unread, await mentionsOf(grace)]).toMatchObject([[{ read_at: expect.any(String) }], 0, 0])
    await expectConsistent()
  })

  it('notifies those who participated when the message arrived, and are still there', async () => {
    await post('@all')
    await chat.participants.remove(ada, conversation_id, grace.user_id)
    const { user } = await chat.users.create(OPERATOR, { username: 'late', email: 'late@example.org' })
    await chat.participants.add(ada, conversation_id, { user_id: user.id })
    await settle()
    expect(await Promise.all([grace, await chat.users.actor(user.id), people[5]!].map(inbox))).toEqual([
      [],
      ['added'],
      ['mention_all'],
    ])
    await expectConsistent()
  })

  it('is completed by another process, and idle() waits for it', async () => {
    await post('@all')
    await chat.close()
    chat = await open(true)
    await chat.idle()
    expect(await Promise.all(people.map(mentionsOf))).toEqual(people.map(() => 1))
    await post('@all again')
    await chat.idle()
    expect(await Promise.all(people.map(unreadOf))).toEqual(people.map(() => 2))
    await expectConsistent()
  })
})

/** Users who participate, in the order of their ids. */
async function addPeople(chat: Chat, conversationId: string): Promise<Actor[]> {
  const { id, now, write } = innerState(chat)
  const ids = await write(async (tx) => {
    const created = times(PEOPLE, () => id()).sort()
    for (const [n, user_id] of created.entries()) {
      await insertUser(tx, {
        ...{ id: user_id, email: `person-${n}@example.org`, email_verified_at: null, username: `person-${n}` },
        ...{
          display_name: null,
          avatar_url: null,
          roles: 'member',
          kind: 'person' as const,
          password_hash: null,
          disabled_at: null,
          created_at: now(),
        },
      })
      await insertParticipant(tx, conversationId, { user_id, role: 'member', joined_at: now() })
    }
    return created
  })
  return Promise.all(ids.map((user_id) => chat.users.actor(user_id)))
}
