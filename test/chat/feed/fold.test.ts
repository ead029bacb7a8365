import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Actor, type FeedEvent, openStorage } from '../../../lib/index.ts'
import { eventId } from '../../../lib/live/log/event-ids.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService, type TestService } from '../../support/service.ts'

/** What a schedule does in turn; each number chooses among what exists. */
const Step = fc.record({
  act: fc.constantFrom('post', 'reply', 'edit', 'remove', 'restore', 'react', 'add', 'kick', 'rename', 'create'),
  who: fc.nat(1),
  node: fc.nat(1),
  n: fc.nat(1000),
})
type Step = typeof Step extends fc.Arbitrary<infer S> ? S : never

interface World {
  nodes: TestService[]
  actors: Actor[]
  conversations: string[]
  messages: { id: string; root_id: string }[]
}

/** Runs a step; one that the rules of the service refuse changes nothing. */
async function run({ nodes, actors, conversations, messages }: World, { act, who, node, n }: Step): Promise<void> {
  const { chat } = nodes[node]!
  const [actor, other] = [actors[who]!, actors[1 - who]!]
  const conversation_id = conversations[n % conversations.length]!
  const message = messages[n % messages.length]
  const content = `${act} ${n}`
  switch (act) {
    case 'create':
      conversations.push((await chat.conversations.create(actor, { title: content })).conversation_id)
      return
    case 'rename':
      await chat.conversations.rename(actor, conversation_id, { title: content })
      return
    case 'add':
      await chat.participants.add(actor, conversation_id, { user_id: other.user_id, role: 'member' })
      return
    case 'kick':
      await chat.participants.remove(actor, conversation_id, other.user_id)
      return
    case 'post': {
      const { message_id: id, root_id } = await chat.messages.postRoot(actor, conversation_id, { content })
      messages.push({ id, root_id })
      return
    }
    default:
  }
  if (!message) return
  if (act === 'reply') await chat.messages.reply(actor, message.root_id, { content })
  if (act === 'edit') await chat.messages.edit(actor, message.id, { content })
  if (act === 'remove') await chat.messages.remove(actor, message.id)
  if (act === 'restore') await chat.messages.restore(actor, message.id)
  if (act === 'react') await chat.reactions.add(actor, message.id, '👍')
}

/** All events after a position, in pages. */
async function readAll({ chat }: TestService, actor: Actor, after: string, limit: number): Promise<FeedEvent[]> {
  const events: FeedEvent[] = []
  for (let position = after, more: true | undefined = true; more; ) {
    const page = await chat.feed.read(actor, { after: position, limit })
    expect(page.reset).toBeUndefined()
    events.push(...page.events)
    ;({ position, more } = page)
  }
  return events
}

/** What a stream that resumes from the position sends of the log, up to a number of events. */
async function replay({ chat }: TestService, actor: Actor, last_event_id: string, count: number) {
  const lines: unknown[] = []
  const controller = new AbortController()
  // An event too many, or of another conversation, would come within this time.
  const timer = setTimeout(() => controller.abort(), count > 0 ? 5_000 : 200)
  for await (const { event, id, conversation_id, seq } of chat.events.followAll(actor, {
    last_event_id,
    signal: controller.signal,
  })) {
    if (id === undefined || event.type === 'stream.ready') continue
    lines.push({ conversation_id, seq, type: event.type, data: 'payload' in event && event.payload })
    if (lines.length === count) {
      clearTimeout(timer)
      setTimeout(() => controller.abort(), 20)
    }
  }
  clearTimeout(timer)
  return lines
}

describeOnEachDatabase('a fold of the feed', (openUrl, dialect) => {
  it('has what the stream of the same user sends, on each node, with ids that stay after a restore', async () => {
    const url = await openUrl()
    const known = new Map<string, string>()

    /** Each event has one id, and each id one event. */
    function note(events: FeedEvent[]): void {
      for (const { id, conversation_id, seq } of events) {
        const place = `${conversation_id} ${seq}`
        expect(known.get(place) ?? id).toBe(id)
        known.set(place, id)
      }
      expect(new Set(known.values()).size).toBe(known.size)
    }

    /** A position before everything. */
    async function beginning(service: TestService): Promise<string> {
      return eventId(await innerState(service).streams.hub.feed.epoch(), dialect === 'sqlite' ? '0' : '1')
    }

    const people: { id: string }[] = []
    await fc.assert(
      fc.asyncProperty(
        fc.array(Step, { minLength: 4, maxLength: 24 }),
        fc.integer({ min: 1, max: 7 }),
        async (steps, limit) => {
          const nodes = [await startService(url), await startService(url)]
          try {
            const [service, node] = nodes as [TestService, TestService]
            if (people.length === 0) people.push(await service.signIn('ada'), await service.signIn('grace'))
            const actors = await Promise.all(people.map(({ id }) => service.chat.users.actor(id)))
            const { conversation_id } = await service.chat.conversations.create(actors[0]!, {})
            const world: World = { nodes, actors, conversations: [conversation_id], messages: [] }
            const starts = await Promise.all(actors.map(async (actor) => (await node.chat.feed.read(actor)).position))
            // Two at a time, so that on PostgreSQL commits overtake each other.
            for (let n = 0; n < steps.length; n += 2)
              await Promise.allSettled(steps.slice(n, n + 2).map((step) => run(world, step)))
            for (const [n, actor] of actors.entries()) {
              const events = await readAll(service, actor, starts[n]!, limit)
              const elsewhere = await readAll(node, actor, starts[n]!, 1000)
              expect(elsewhere.map(({ id }) => id)).toEqual(events.map(({ id }) => id))
              note(events)
              const lines = events.map(({ conversation_id, seq, type, data }) => ({ conversation_id, seq, type, data }))
              expect(lines).toEqual(await replay(node, actor, starts[n]!, lines.length))
            }
            const everything = await service.chat.system('everything')
            note(await readAll(service, everything, await beginning(service), 1000))
          } finally {
            await Promise.all(nodes.map((each) => each.close()))
          }
          // As a copy that is put back: the next events are those of another history.
          const storage = await openStorage({ database: url })
          await storage.renewEpoch()
          await storage.close()
        },
      ),
      { numRuns: 8 },
    )
  }, 120_000)
})
