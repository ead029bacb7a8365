import type * as v from 'valibot'
import { beforeAll, expect, it } from 'vitest'
import { ConversationStreamEvent } from '../../../lib/chat/events/schema.ts'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { namesIn } from '../../../lib/core/schema-names.ts'
import {
  type Actor,
  type EventAfter,
  type HostNotification,
  type Identity,
  type JoinBefore,
  type MessageBefore,
  OPERATOR,
  type Recipient,
} from '../../../lib/index.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, startService } from '../../support/service.ts'

/** Nothing else contains it. */
const MARK = 'subject-of-'

describeOnEachDatabase("a host's own ids of people", (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { attachments: { enabled: true } },
      ports: {
        identity: ({ headers }) => people.get(headers.get('x-host-user') ?? ''),
        notify: (notification, recipient) => void told.push([notification, recipient]),
        hooks: {
          beforeMessage: (message) => void messages.push(message),
          beforeJoin: (join) => void joins.push(join),
          afterEvent: (event) => void events.push(event),
        },
      },
    }),
  )
  let orders: Actor
  const ids: Record<string, string> = {}
  const people = new Map<string, Identity>(
    ['ada', 'grace', 'admin'].map((username) => [
      username,
      { subject: MARK + username, username, roles: [username === 'admin' ? 'admin' : 'member'] },
    ]),
  )
  const messages: MessageBefore[] = []
  const joins: JoinBefore[] = []
  const events: EventAfter[] = []
  const told: [HostNotification, Recipient][] = []
  beforeAll(async () => {
    for (const name of people.keys()) ids[name] = (await as(name).auth.me()).user.id
    orders = await service.chat.system('orders')
  })

  const fetchAs =
    (name: string): typeof fetch =>
    (input, init) =>
      checkedFetch(input, { ...init, headers: { ...init?.headers, 'x-host-user': name } })
  const as = (name: string) => createAdminClient({ base_url: service.base_url, fetch: fetchAs(name) })

  it('are in what hooks and notify get', async () => {
    const { conversation_id } = await as('ada').conversations.create({ title: 'Engines' })
    await as('ada').participants.add(conversation_id, { user_id: ids.grace! })
    expect(joins.at(-1)).toMatchObject({
      actor: { user_id: ids.ada, subject: `${MARK}ada` },
      user_id: ids.grace,
      user: { user_id: ids.grace, subject: `${MARK}grace` },
    })
    const mentions = { user_ids: [ids.grace!] }
    await as('ada').messages.postRoot(conversation_id, { content: 'It runs', mentions })
    expect(messages.at(-1)!.actor).toMatchObject({ user_id: ids.ada, subject: `${MARK}ada` })
    await service.chat.messages.postRoot(orders, conversation_id, { content: 'Order 42 paid' })
    expect(messages.at(-1)!.actor).not.toHaveProperty('subject')
    // An actor without a request.
    const actor = await service.chat.users.actor(ids.grace!)
    await service.chat.messages.postRoot(actor, conversation_id, { content: 'Thanks' })
    expect(messages.at(-1)!.actor).toMatchObject({ subject: `${MARK}grace` })
    await service.idle()
    const mention = told.find(([{ kind }]) => kind === 'mention')!
    expect(mention).toMatchObject([
      { actor_user_id: ids.ada, actor_subject: `${MARK}ada` },
      { user_id: ids.grace, subject: `${MARK}grace` },
    ])
    const posted = events.filter(({ type }) => type === 'message.new')
    expect(posted.map(({ subjects }) => subjects)).toEqual([
      { [ids.ada!]: `${MARK}ada`, [ids.grace!]: `${MARK}grace` },
      {},
      { [ids.grace!]: `${MARK}grace` },
    ])
    expect(events.find(({ type }) => type === 'membership.changed')!.subjects).toEqual({ [ids.ada!]: `${MARK}ada` })
  })

  it('are beside each event that a system actor follows, replayed or live, and not for a user', async () => {
    const stream = service.chat.events.followAll(orders)
    const adas = service.chat.events.followAll(await service.chat.users.actorOf(`${MARK}ada`))
    const ready = (await stream.next()).value!
    expect(ready.subjects).toEqual({})
    await adas.next()
    const { conversation_id } = await as('ada').conversations.create({ title: 'Followed' })
    const expected = { event: { type: 'membership.changed' }, conversation_id, subjects: { [ids.ada!]: `${MARK}ada` } }
    expect((await stream.next()).value).toMatchObject(expected)
    for await (const own of adas) {
      expect(JSON.stringify(own)).not.toContain(MARK)
      if (own.event.type === 'membership.changed') break
    }
    await stream.return(undefined)
    const { last_event_id } = ready.event.payload as { last_event_id: string }
    const replayed = service.chat.events.followAll(orders, { last_event_id })
    for await (const { event, subjects } of replayed) {
      if (event.type === 'stream.ready') continue
      expect(subjects).toEqual(expected.subjects)
      break
    }
  })

  it('are read by administrators, who find a user by one', async () => {
    const { users } = await as('admin').users.list({ subject: `${MARK}ada` })
    expect(users).toMatchObject([{ id: ids.ada, subject: `${MARK}ada` }])
    expect((await as('admin').users.list({ subject: `${MARK}nobody` })).users).toEqual([])
    expect((await as('admin').users.list({ subject: `${MARK}ada`, query: 'gr' })).users).toEqual([])
    expect((await as('admin').users.describe(ids.grace!)).user.subject).toBe(`${MARK}grace`)
    expect((await as('admin').users.change(ids.grace!, { display_name: 'Grace' })).user.subject).toBe(`${MARK}grace`)
    const { users: all } = await service.chat.users.list(OPERATOR)
    expect(all.map(({ subject }) => subject)).toEqual([
      ...[...people.values()].map(({ subject }) => subject),
      undefined,
    ])
    expect((await service.chat.users.find(OPERATOR, 'ada')).subject).toBe(`${MARK}ada`)
    expect((await service.chat.users.ensure(OPERATOR, { subject: `${MARK}ada` })).user.subject).toBe(`${MARK}ada`)
    expect(await codeOf(as('ada').users.list({ subject: `${MARK}ada` }))).toBe('forbidden')
    expect(await codeOf(as('admin').users.list({ subject: '' }))).toBe('validation_failed')
  })

  it('are in no answer but those for administrators, and in no event', () => {
    const named = (schema: v.GenericSchema | undefined) =>
      schema !== undefined && /"(actor_)?subjects?":/.test(JSON.stringify(namesIn(schema)))
    const showing = allRoutes.filter(([, { output }]) => named(output))
    // The identities at sign-in providers are a user's own, and never that of the host; the feed has them for system actors.
    const others = showing.filter(([, { access }]) => access !== 'admin').map(([name]) => name)
    expect(others).toEqual(['identitiesList', 'feedRead'])
    expect(named(ConversationStreamEvent)).toBe(false)
  })

  it('are in nothing that a user reads over HTTP, by any route, nor in a stream', async () => {
    const { conversation_id } = await as('ada').conversations.create({ title: 'Common' })
    const stream = as('grace').events.followAll()
    await stream.next()
    await as('ada').participants.add(conversation_id, { user_id: ids.grace! })
    const { message_id, root_id } = await as('ada').messages.postRoot(conversation_id, { content: 'hello @grace' })
    await as('ada').pins.add(message_id)
    await as('ada').reactions.add(message_id, '👍')
    const received: unknown[] = []
    for await (const { event } of stream) {
      received.push(event)
      if (event.type === 'reactions.changed') break
    }
    expect(JSON.stringify(received)).toContain(ids.ada)
    expect(JSON.stringify(received)).not.toContain(MARK)
    const named: Record<string, string> = { conversation_id, message_id, root_id, user_id: ids.ada! }
    let read = 0
    for (const [, { method, path, answer }] of allRoutes) {
      if (method !== 'GET' || answer === 'stream') continue
      const url = path.replaceAll(/\{(\w+)\}/g, (_: string, name: string) => named[name] ?? 'x')
      const response = await fetchAs('grace')(`${service.base_url}${url}?query=ad&q=hello&user_ids=${ids.ada}`)
      const text = await response.text()
      if (response.ok) read++
      expect(text, path).not.toContain(MARK)
    }
    expect(read).toBeGreaterThan(15)
  })
})
