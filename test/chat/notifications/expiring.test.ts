import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { insertUser } from '../../../lib/accounts/users/store-naming.ts'
import { pruneInboxes } from '../../../lib/chat/notifications/expiring.ts'
import { insertSilently } from '../../../lib/chat/notifications/store-all.ts'
import { DAY } from '../../../lib/core/units.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type Person, startService, startThread, type TestService, times } from '../../support/service.ts'

describeOnEachDatabase('what an inbox keeps', (openUrl) => {
  let service: TestService
  let clock: number
  let ada: Person
  let grace: Person
  let conversation_id: string

  beforeEach(async () => {
    clock = Date.now() * 1000
    const session = { idle_seconds: 400 * 86_400, absolute_seconds: 400 * 86_400 }
    service = await startService(await openUrl(), { config: { session }, ports: { now: () => clock } })
    onTestFinished(service.close)
    ;({ ada, grace, conversation_id } = await startThread(service))
  })

  const mention = (content: string) =>
    ada.messages.postRoot(conversation_id, { content, mentions: { user_ids: [grace.id] } })
  const excerpts = async () => (await grace.notifications.list()).notifications.map(({ excerpt }) => excerpt)
  const counts = async () => {
    const { conversations } = await grace.conversations.list()
    return [(await grace.notifications.list()).unread, conversations[0]!.mentions]
  }

  it('are the latest notifications up to a number, with what they count', async () => {
    for (const n of times(6, (index) => index)) await mention(`number ${n}`)
    const { notifications } = await grace.notifications.list()
    await grace.notifications.markRead({ ids: [notifications[5]!.id] })
    const ctx = innerState(service)
    // One of all inboxes: of the conversation that grace was added to.
    expect(await pruneInboxes(ctx, undefined, 4)).toBe(3)
    expect(await excerpts()).toEqual(['number 5', 'number 4', 'number 3', 'number 2'])
    expect(await counts()).toEqual([4, 4])
    expect(await pruneInboxes(ctx, undefined, 4)).toBe(0)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('are those of the last days, also of a direct conversation', async () => {
    const direct = await ada.conversations.direct({ user_id: grace.id })
    await ada.messages.postRoot(direct.conversation_id, { content: 'only you' })
    await mention('old')
    clock += 60 * DAY
    await mention('new')
    clock += 31 * DAY
    expect((await service.chat.ops.prune()).notifications).toBe(3)
    expect(await excerpts()).toEqual(['new'])
    expect(await counts()).toEqual([1, 1])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is looked at in rounds: each call continues where the one before has stopped', async () => {
    const { db, id, now } = innerState(service)
    // Before and behind the others.
    const user = (user_id: string) => ({
      ...{ id: user_id, email: `${user_id}@example.org`, email_verified_at: null, username: user_id },
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
    await db.write(async (tx) => {
      for (const n of times(30, (index) => index)) await insertUser(tx, user(`0-${n}-${id()}`))
    })
    await mention('old')
    clock += 91 * DAY
    const round = { after: '', ms: Number.MIN_VALUE }
    const removed: number[] = []
    do removed.push(await pruneInboxes(innerState(service), round))
    while (round.after !== '')
    expect(removed).toEqual([0, 2])
  })

  it('is pruned no further once the service stops', async () => {
    const { db, now } = innerState(service)
    await db.write(async (tx) => {
      for (const n of times(1_200, (index) => index))
        await insertSilently(tx, { id: `${n}`, at: now() - 100 * DAY - n, read_at: now(), hidden: 0 }, [grace.id])
    })
    let asked = 0
    const { streams } = innerState(service)
    const hub = { ...streams.hub, isDraining: () => asked++ > 0 }
    expect(await pruneInboxes({ ...innerState(service), streams: { ...streams, hub } })).toBe(500)
  })
})
