import * as v from 'valibot'
import { beforeAll, expect, it, vi } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { ChatError } from '../../../lib/core/errors.ts'
import type { Actor, FeedEvent } from '../../../lib/index.ts'
import type { WebhookInput } from '../../../lib/integrations/webhooks/schema.ts'
import { WebhookThinEvent } from '../../../lib/integrations/webhooks/schema-sent.ts'
import { SENT_EVENTS } from '../../../lib/integrations/webhooks/sent-events.ts'
import { createRandom, newSeed } from '../../fault/random.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { type Person, startService, times } from '../../support/service.ts'
import {
  type Received,
  startWebhookReceiver,
  type WebhookReceiver,
  webhooksTo,
} from '../../support/webhook-receiver.ts'

const PATIENT = { timeout: 30_000, interval: 50 }

/** The least that `webhooks.max_bytes` may be: a longer event is sent without its texts. */
const MAX_BYTES = 1_024

type Client = Pick<Person, 'id' | 'messages' | 'reactions' | 'pins' | 'participants'>

describeOnEachDatabase('what the feed has of a webhook', (openUrl) => {
  let receiver: WebhookReceiver
  const service = setUpService(async () => {
    receiver = await startWebhookReceiver()
    const config = webhooksTo(receiver)
    return startService(await openUrl(), {
      config: { ...config, webhooks: { ...config.webhooks, max_bytes: MAX_BYTES, max_per_user: 50 } },
    })
  })
  let ada: Person
  let grace: Person
  let bot: Client
  let actor: Actor
  let hookUrl: string
  const conversations: string[] = []

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    actor = await service.chat.users.actor(ada.id)
    const made = await ada.bots.create({ username: 'crier' })
    const client = createAdminClient({ base_url: service.base_url, api_key: made.key, fetch: checkedFetch })
    bot = Object.assign(client, { id: made.bot.id })
    for (const title of ['one', 'two']) {
      const { conversation_id } = await grace.conversations.create({ title })
      for (const user_id of [ada.id, bot.id]) await grace.participants.add(conversation_id, { user_id })
      conversations.push(conversation_id)
    }
    const { conversation_id } = await ada.conversations.direct({ user_id: grace.id })
    conversations.push(conversation_id)
    hookUrl = (await grace.hooks.create(conversations[0]!, { name: 'Alerts' })).url
  })

  /** Whether an act was possible: chance also asks for what is not. */
  async function attempt(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      if (error instanceof ChatError || (error as { code?: string }).code) return false
      throw error
    }
  }

  /** Writes, changes and deletes by chance. @returns how many acts were possible */
  async function act(random: () => number, count: number): Promise<number> {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    const texts = ['plain', `@ada look`, '@all of you', 'x'.repeat(2 * MAX_BYTES)]
    const messages: { id: string; author: Client }[] = []
    const note = (author: Client) => (made: { message_id: string }) => messages.push({ id: made.message_id, author })
    const acts: ((by: Client) => Promise<unknown>)[] = [
      (by) => by.messages.postRoot(pick(conversations), { content: pick(texts) }).then(note(by)),
      (by) => by.messages.reply(pick(messages).id, { content: pick(texts) }).then(note(by)),
      () => {
        const { id, author } = pick(messages)
        return author.messages.edit(id, { content: `${pick(texts)} anew` })
      },
      () => {
        const { id, author } = pick(messages)
        return random() < 0.3 ? author.messages.remove(id) : Promise.resolve()
      },
      (by) => by.reactions.add(pick(messages).id, pick(['👍', '🎉'])),
      (by) => by.pins.add(pick(messages).id),
      () =>
        checkedFetch(service.base_url + hookUrl, { method: 'POST', headers: JSON_TYPE, body: '{"content":"alert"}' }),
      () => grace.participants.remove(conversations[1]!, pick([ada.id, bot.id])),
      () => grace.participants.add(conversations[1]!, { user_id: pick([ada.id, bot.id]) }),
    ]
    for (const by of [ada, grace, bot]) note(by)(await by.messages.postRoot(conversations[0]!, { content: 'first' }))
    let done = 0
    for (let n = 0; n < count; n++) if (await attempt(() => pick(acts)(pick([ada, grace, bot])))) done++
    for (const user_id of [ada.id, bot.id]) await attempt(() => grace.participants.add(conversations[1]!, { user_id }))
    return done
  }

  function chooseInput(random: () => number): Omit<WebhookInput, 'url'> {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    const types = pick([undefined, ['*'], ['message.*'], ['message.new', 'reactions.changed', 'pin.changed']])
    const conversation_id = pick([undefined, undefined, ...conversations.slice(0, 2)])
    const order = pick(['none', 'conversation'] as const)
    return {
      ...(types && { types }),
      ...(conversation_id && { conversation_id }),
      ...(random() < 0.3 && { bot_id: bot.id }),
      ...{ only: pick(['all', 'notified']), bots: random() < 0.5, payload: pick(['full', 'thin']), order },
      parallel: order === 'none' ? 1 : 4,
    }
  }

  const callsOf = (id: string) => receiver.calls.filter(({ headers }) => headers['x-chat-server-webhook'] === id)

  async function readFeed(webhook_id: string, from: string): Promise<FeedEvent[]> {
    const events: FeedEvent[] = []
    for (let after = from; ; ) {
      const page = await ada.feed.read({ after, webhook_id, limit: 7 })
      expect(page.reset).toBeUndefined()
      events.push(...page.events)
      if (!page.more) return events
      after = page.position
    }
  }

  it('is what its receiver gets, by chance: the same events, in the order of the log, with the same data', async () => {
    const seed = newSeed()
    console.log(`seed ${seed}`)
    const random = createRandom(seed)
    // The first gets much, whatever chance is for the others.
    const inputs = [{ payload: 'full', order: 'none', parallel: 1 } as const, ...times(8, () => chooseInput(random))]
    const made = []
    for (const input of inputs) {
      const { webhook } = await service.chat.webhooks.create(actor, { url: receiver.url, ...input })
      // Sent later, so that the data are as they are when the feed is read.
      await service.chat.webhooks.change(actor, webhook.id, { enabled: false })
      made.push({ input, ...webhook })
    }
    expect(await act(random, 120)).toBeGreaterThan(30)
    for (const { id } of made) await service.chat.webhooks.change(actor, id, { enabled: true })
    const counts = []
    for (const { id, position, input } of made) {
      const events = await readFeed(id, position)
      await vi.waitFor(() => expect(callsOf(id)).toHaveLength(events.length), PATIENT)
      const calls = callsOf(id)
      expect(calls.map((call) => call.id).toSorted()).toEqual(events.map((event) => event.id).toSorted())
      if (input.order === 'none') expect(calls.map((call) => call.id)).toEqual(events.map((event) => event.id))
      else expect(byConversation(calls.map(({ event }) => event))).toEqual(byConversation(events))
      const sent = new Map(calls.map((call) => [call.id, call]))
      for (const event of events) expectSame(sent.get(event.id)!, event, input)
      counts.push(events.length)
    }
    expect(Math.max(...counts)).toBeGreaterThan(20)
    await service.idle()
    expect(receiver.calls).toHaveLength(counts.reduce((sum, count) => sum + count, 0))
  })

  /** The feed has what a call has: the event, in full or what of it has no text. */
  function expectSame(
    { body, headers }: Received,
    { position, ...event }: FeedEvent,
    input: { payload?: string },
  ): void {
    expect(headers['x-chat-server-position']).toBe(position)
    const sent = JSON.parse(body)
    expect(event).toEqual(sent)
    if (input.payload === 'full' && !sent.truncated) {
      expect(v.is(SENT_EVENTS.get(event.type)!, sent)).toBe(true)
      expect(Buffer.byteLength(body)).toBeLessThanOrEqual(MAX_BYTES)
      return
    }
    expect(v.is(WebhookThinEvent, sent)).toBe(true)
    expect('truncated' in sent).toBe(input.payload === 'full')
    expect(sent.data.url).toMatch(/^(http|\/api\/)/)
    expect(body).not.toMatch(/"content"|"title"/)
  }
})

const JSON_TYPE = { 'content-type': 'application/json' }

function byConversation(events: readonly Pick<FeedEvent, 'id' | 'conversation_id'>[]): Record<string, string[]> {
  const ids: Record<string, string[]> = {}
  for (const { id, conversation_id = '' } of events) ids[conversation_id] = [...(ids[conversation_id] ?? []), id]
  return ids
}
