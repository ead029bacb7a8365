import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { createUserUpdates } from '../../../lib/chat/people/updates.ts'
import type { EphemeralEvent } from '../../../lib/context.ts'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { describeService, setUpNodes, startNodes } from '../../support/describe-service.ts'
import { innerState, PASSWORD, type Person } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

describeOnEachDatabase('user.updated', (openUrl) => {
  const [service, other] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      // Each attempt of a test signs in anew.
      config: { presence: { broadcast_participants: 2 }, session: { max_sessions_per_user: false } },
    }),
  )
  let ada: Person
  let grace: Person
  let eve: Person
  let conversation_id: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
    // Two conversations that both take part in, one of them larger than those that get presence.
    for (const title of ['Machines', 'Looms']) {
      conversation_id = (await ada.conversations.create({ title })).conversation_id
      await ada.participants.add(conversation_id, { user_id: grace.id })
    }
    const { user } = await ada.users.create({ username: 'mary', email: 'mary@example.org' })
    await ada.participants.add(conversation_id, { user_id: user.id })
  })

  async function follow(person: Person, base_url: string, id?: string): Promise<TestStream> {
    const { cookie } = await signInByHand(base_url, person.email, PASSWORD)
    const stream = await openStream(base_url, id, { cookie })
    onTestFinished(() => stream.close())
    await stream.until('stream.ready')
    return stream
  }

  it('is sent with new names once to each reader of any node, and to no stranger', async () => {
    const streams = await Promise.all([
      follow(ada, service.base_url),
      follow(ada, other.base_url),
      follow(ada, other.base_url, conversation_id),
    ])
    const stranger = await follow(eve, service.base_url)
    // Another name at each attempt: the same one again is no change.
    const display_name = `Grace ${randomUUID()}`
    await grace.auth.changeProfile({ display_name })
    const user = { id: grace.id, username: 'grace', display_name, kind: 'person' }
    for (const stream of streams) {
      const seen = await stream.until('user.updated')
      expect(seen.at(-1)!.event.payload).toEqual({ user })
      expect(seen.at(-1)!.id).toBeUndefined()
      const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'so far' })
      const rest = await stream.until('message.new', (event) => JSON.stringify(event).includes(message_id))
      expect(rest.filter(({ event }) => event.type === 'user.updated')).toEqual([])
    }
    const own = (await eve.conversations.create({ title: 'Alone' })).conversation_id
    expect((await stranger.until('membership.changed')).map(({ event }) => event.type)).not.toContain('user.updated')
    expect(own).toBeDefined()
  })

  it('is sent when an account is disabled and enabled', async () => {
    const { user: joan } = await ada.users.create({ username: 'joan', email: 'joan@example.org' })
    await ada.participants.add(conversation_id, { user_id: joan.id })
    const stream = await follow(ada, other.base_url)
    await ada.users.change(joan.id, { disabled: true })
    const of = ({ payload }: { payload: unknown }) => JSON.stringify(payload).includes(joan.id)
    expect((await stream.until('user.updated', of)).at(-1)!.event.payload).toMatchObject({ user: { disabled: true } })
  })
})

describeService('changes of a user', (service) => {
  it('are sent at once, and then the last one after a pause', async () => {
    const { db, log, ctx } = { ...innerState(service.chat), ctx: innerState(service.chat) }
    await service.signIn('root')
    const { user } = await service.chat.users.create(OPERATOR, { username: 'ada', email: 'ada@example.org' })
    const { conversation_id } = await service.chat.conversations.create(await service.chat.users.actor(user.id), {})
    const sent: string[] = []
    const hub = {
      isIdle: () => false,
      hasReaders: (id: string) => id === conversation_id,
      publishAbout: (_: unknown, event: EphemeralEvent) =>
        void sent.push((event.payload as { user: { display_name: string } }).user.display_name),
    }
    const updates = createUserUpdates({ config: ctx.config, db, log, hub: hub as never, pause_ms: 1_500 })
    onTestFinished(() => updates.close())
    ctx.commits.subscribe(({ ephemeral }) => updates.note(ephemeral))
    const rename = (display_name: string) => service.chat.users.change(OPERATOR, user.id, { display_name })
    await rename('One')
    await expect.poll(() => sent, { timeout: 30_000 }).toEqual(['One'])
    for (const name of ['Two', 'Three', 'Four']) await rename(name)
    expect(sent).toEqual(['One'])
    await expect.poll(() => sent, { timeout: 30_000 }).toEqual(['One', 'Four'])
  })
})
