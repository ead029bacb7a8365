import { expect, it } from 'vitest'
import type { Actor, Chat } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { times } from '../../support/service.ts'
import { createPeople, startChat } from './people.ts'

describeOnEachDatabase('what is unread, on two nodes', (openUrl) => {
  it('is exact after replies to one thread at the same time, and after marks beside them', async () => {
    const database = await openUrl()
    const nodes = [await startChat(database), await startChat(database)] as const
    const [one, other] = nodes
    const people = await createPeople(one, 3)
    const [ada, grace, eve] = [people[0]!, people[1]!, people[2]!]
    const { conversation_id } = await one.conversations.create(ada, { layout: 'stream' })
    for (const { user_id } of [grace, eve]) await one.participants.add(ada, conversation_id, { user_id })
    const { root_id } = await one.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })
    const reply = (chat: Chat, actor: Actor) => chat.messages.reply(actor, root_id, { content: 'Hello @ada' })

    await Promise.all(times(10, (n) => reply(nodes[n % 2]!, n % 4 < 2 ? grace : eve)))
    for (const chat of nodes) {
      expect(await chat.threads.unread(ada, conversation_id)).toMatchObject({
        total: 10,
        unread: 10,
        unread_replies: 10,
      })
      const { unread, unread_replies } = await chat.threads.unread(grace, conversation_id)
      // The root, and the replies of the other author since the first one of grace.
      expect(unread - unread_replies).toBe(1)
    }

    const marks = [
      (chat: Chat) => chat.threads.markRead(ada, root_id, {}),
      (chat: Chat) => chat.conversations.markRead(ada, conversation_id, { all: true }),
      (chat: Chat) => chat.threads.markUnread(ada, root_id, { message_id: root_id }),
      (chat: Chat) => chat.threads.unfollow(ada, root_id),
      (chat: Chat) => chat.threads.follow(ada, root_id),
      (chat: Chat) => chat.conversations.markRead(ada, conversation_id, {}),
    ]
    for (const [n, mark] of [...marks, ...marks].entries()) {
      const [here, there] = n % 2 ? [one, other] : [other, one]
      await Promise.all([reply(here, grace), mark(there), reply(there, eve), mark(here)])
      const { messages } = await one.threads.messages(ada, root_id, { limit: 200 })
      const unread = messages.filter((message) => message.unread).length
      for (const chat of nodes) {
        const numbers = await chat.threads.unread(ada, conversation_id)
        expect(numbers.total).toBe(unread)
        const { conversations } = await chat.conversations.list(ada)
        expect(conversations.find(({ id }) => id === conversation_id)).toMatchObject({
          unread: numbers.unread,
          unread_replies: numbers.unread_replies,
        })
      }
      expect((await other.ops.fsck()).findings).toEqual([])
    }
    await Promise.all(nodes.map((node) => node.close()))
  })
})
