import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AnswerFailure } from '../../lib/chat/answers/answer-failure.ts'
import type { ConversationStreamEvent } from '../../lib/chat/events/schema.ts'
import type { ReceivedEvent } from '../../lib/client/index.ts'
import { type Answer, createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, startThread, type TestService } from '../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../support/stream.ts'

/** The types of stored events: presence events do not depend on the test. */
const kept = (events: ReceivedEvent[]) => events.filter(({ id }) => id !== undefined).map(({ event }) => event.type)

const deltaIn = (event: ConversationStreamEvent) =>
  event.type === 'message.delta' ? event.payload.choices[0]!.delta.content : ''

describeOnEachDatabase('answers of the assistant', (openUrl) => {
  let service: TestService
  let asked: () => Promise<Answer>
  let world: Awaited<ReturnType<typeof startThread>>
  const streams: TestStream[] = []

  beforeEach(async () => {
    const puppet = createPuppet()
    asked = puppet.asked
    const config = {
      assistant: {
        drain_seconds: 0,
        answer_bytes: 100,
        system_prompt: 'Be brief.',
        context: 'path' as const,
        names: 'never' as const,
      },
    }
    service = await startService(await openUrl(), { config, ports: { assistant: puppet.assistant } })
    world = await startThread(service)
  })
  afterEach(async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()))
    await service.close()
  })

  /** Waits until no node writes an answer. */
  const idle = () => Promise.all(service.nodes.map((node) => innerState(node).answers.idle()))

  async function follow(email: string, last_event_id?: string): Promise<TestStream> {
    const { cookie } = await signInByHand(service.base_url, email, PASSWORD)
    const stream = await openStream(service.base_url, world.conversation_id, {
      cookie,
      ...(last_event_id !== undefined && { last_event_id }),
    })
    streams.push(stream)
    await stream.until('stream.ready')
    return stream
  }

  const ask = (content = 'Why?') => world.ada.messages.postRoot(world.conversation_id, { content, role: 'assistant' })

  const read = (message_id: string) => world.grace.messages.get(message_id)

  it('stream into the message, the same for every reader', async () => {
    const { ada, grace, conversation_id } = world
    const readers = [await follow(ada.email), await follow(grace.email)]
    const { message_id, message } = await ask('Why is the sky blue?')
    expect(message).toMatchObject({ role: 'assistant', status: 'streaming', content: '', depth: 0 })
    expect(message).toMatchObject({ prompt: 'Why is the sky blue?', requested_by: ada.id })
    expect(message).not.toHaveProperty('author_user_id')

    const answer = await asked()
    expect(answer.request).toMatchObject({ message_id, conversation_id, root_id: message_id, requested_by: ada.id })
    expect(answer.request.turns).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Why is the sky blue?', user_id: ada.id },
    ])
    answer.say('Light ')
    const firsts = await Promise.all(readers.map((reader) => reader.until('message.delta')))
    for (const events of firsts) {
      expect(kept(events)).toEqual(['thread.new', 'message.new', 'message.delta'])
      expect(events.at(-1)!.event.payload).toEqual({
        id: `${message_id}:0`,
        object: 'chat.completion.chunk',
        root_id: message_id,
        message_id,
        conversation_id,
        depth: 0,
        choices: [{ index: 0, delta: { role: 'assistant', content: 'Light ' } }],
      })
    }
    expect(await read(message_id)).toMatchObject({ status: 'streaming', content: 'Light ' })

    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
    answer.say('scat', 'ters.', { usage, finish_reason: 'length' })
    answer.end()
    const rest = await Promise.all(readers.map((reader) => reader.until('message.done')))
    expect(rest[0]!.filter(({ id }) => id)).toEqual(rest[1]!.filter(({ id }) => id))
    expect(rest[0]!.map(({ event }) => deltaIn(event)).join('')).toBe('scatters.')
    expect(rest[0]!.at(-1)!.event.payload).toEqual({
      message_id,
      root_id: message_id,
      conversation_id,
      finish_reason: 'length',
      usage,
    })
    const done = { status: 'complete', content: 'Light scatters.', finish_reason: 'length', usage }
    expect(await read(message_id)).toMatchObject(done)
    const chunks = await grace.answers.listChunks(message_id)
    expect(chunks.map(({ idx }) => idx)).toEqual(chunks.map((_, index) => index))
    expect(chunks.map(({ content }) => content).join('')).toBe('Light scatters.')
    expect(await grace.answers.listChunks(message_id, { from: 1, limit: 1 })).toEqual([chunks[1]])
    const { threads } = await grace.threads.list(conversation_id)
    expect(threads[0]).toMatchObject({ root_excerpt: 'Why is the sky blue?', unread: 1, message_count: 1 })
    expect(threads[0]).not.toHaveProperty('root_author')
    const mine = (await ada.threads.list(conversation_id)).threads[0]
    expect(mine).toMatchObject({ unread: 0 })
  })

  it('equal a snapshot plus the following events, from the start and from the middle', async () => {
    const live = await follow(world.ada.email)
    const { message_id } = await ask()
    const answer = await asked()
    answer.say('One, ')
    const [fresh] = (await live.until('message.delta')).slice(-1)
    answer.say('two, ')
    await live.until('message.delta')

    const tree = await world.grace.threads.tree(message_id)
    expect(tree.messages[0]!.content).toBe('One, two, ')
    const late = await follow(world.grace.email, tree.stream_position!)
    const again = await follow(world.grace.email, fresh!.id)
    answer.say('three.')
    answer.end()
    const textOf = async (stream: TestStream) =>
      (await stream.until('message.done')).map(({ event }) => deltaIn(event)).join('')
    expect(tree.messages[0]!.content + (await textOf(late))).toBe('One, two, three.')
    expect(deltaIn(fresh!.event) + (await textOf(again))).toBe('One, two, three.')

    // A replay from the start begins with an empty text, whatever it is by now.
    const replay = await follow(world.grace.email, await beginningOf(world.conversation_id))
    const events = await replay.until('message.done')
    const fresher = events.find(({ event }) => event.type === 'message.new' && event.payload.message.id === message_id)
    expect(fresher!.event.payload).toMatchObject({ message: { content: '', status: 'streaming', prompt: 'Why?' } })
    expect(events.map(({ event }) => deltaIn(event)).join('')).toBe('One, two, three.')
  })

  /** The id before the first event. */
  async function beginningOf(conversation_id: string): Promise<string> {
    const { stream_position } = await world.ada.conversations.get(conversation_id)
    return stream_position!.replace(/\.\d+$/, '.0')
  }

  it('continue the path of a reply', async () => {
    const { ada, grace, root } = world
    await grace.messages.reply(root.message_id, { content: 'elsewhere' })
    const { message_id } = await grace.messages.reply(root.message_id, { content: 'second' })
    const first = await ada.messages.reply(message_id, { content: 'third?', role: 'assistant' })
    const answer = await asked()
    answer.say('fourth')
    answer.end()
    const stream = await follow(ada.email, await beginningOf(world.conversation_id))
    await stream.until('message.done')
    await ada.messages.reply(first.message_id, { content: 'fifth?', role: 'assistant' })
    const { request } = await asked()
    expect(request.turns.slice(1).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: first',
      'user: second',
      'user: third?',
      'assistant: fourth',
      'user: fifth?',
    ])
  })

  describe('are stopped', () => {
    it('by the user who asked, and keep the text so far', async () => {
      const stream = await follow(world.grace.email)
      const { message_id } = await ask()
      const answer = await asked()
      answer.say('Because')
      await stream.until('message.delta')
      expect(await world.ada.answers.cancel(message_id)).toEqual({ message_id, status: 'cancelled' })
      await answer.aborted
      const done = (await stream.until('message.done')).at(-1)!
      expect(done.event.payload).toMatchObject({ message_id, finish_reason: 'cancelled' })
      answer.say(' of the air.')
      const stopped = { status: 'cancelled', content: 'Because', finish_reason: 'cancelled' }
      expect(await read(message_id)).toMatchObject(stopped)
      expect(await world.ada.answers.cancel(message_id)).toEqual({ message_id, status: 'cancelled' })
      expect(await world.ada.answers.listChunks(message_id)).toHaveLength(1)
    })

    it('by owners and admins of the conversation, and by no other user', async () => {
      const { ada, grace, eve, conversation_id } = world
      const { message_id } = await grace.messages.postRoot(conversation_id, { content: '?', role: 'assistant' })
      await asked()
      const frank = await service.signIn('frank')
      await ada.participants.add(conversation_id, { user_id: frank.id })
      expect(await codeOf(frank.answers.cancel(message_id))).toBe('forbidden')
      expect(await codeOf(eve.answers.cancel(message_id))).toBe('not_found')
      expect(await ada.answers.cancel(message_id)).toMatchObject({ status: 'cancelled' })
    })

    it('by deleting the message, and are back when it is restored', async () => {
      const { ada, grace } = world
      const stream = await follow(grace.email)
      const { message_id } = await ask('What is the secret?')
      const answer = await asked()
      answer.say('It is Neverland.')
      await stream.until('message.delta')
      await ada.messages.remove(message_id)
      await answer.aborted
      const events = await stream.until('message.deleted')
      expect(kept(events)).toEqual(['message.done', 'message.deleted'])
      const deleted = await read(message_id)
      expect(deleted).toMatchObject({ content: '', status: 'cancelled' })
      expect(deleted).not.toHaveProperty('prompt')
      expect(await grace.answers.listChunks(message_id)).toEqual([])

      const replay = await follow(grace.email, await beginningOf(world.conversation_id))
      const replayed = await replay.until('message.deleted')
      expect(JSON.stringify(replayed)).not.toMatch(/Neverland|secret/)
      const numbers = replayed.flatMap(({ id }) => (id === undefined ? [] : [Number(id.split('.')[1])]))
      expect(numbers).toEqual(numbers.map((_, index) => index + 1))

      await ada.messages.restore(message_id)
      expect(await read(message_id)).toMatchObject({ content: 'It is Neverland.', prompt: 'What is the secret?' })
      expect(await grace.answers.listChunks(message_id)).toHaveLength(1)
    })

    it('by deleting the conversation', async () => {
      await ask()
      const answer = await asked()
      answer.say('Because')
      await world.ada.conversations.remove(world.conversation_id)
      await innerState(service).answers.renewLeases()
      await answer.aborted
      await idle()
    })

    it('not by a lost connection', async () => {
      const stream = await follow(world.ada.email)
      const { message_id } = await ask()
      const answer = await asked()
      answer.say('Be')
      await stream.until('message.delta')
      await stream.close()
      answer.say('cause')
      answer.end()
      await idle()
      expect(await read(message_id)).toMatchObject({ status: 'complete', content: 'Because' })
    })
  })

  it('can be edited by the user who asked, once they are complete', async () => {
    const { ada, grace } = world
    const { message_id } = await ask()
    const answer = await asked()
    const edit = { content: 'Edited.' }
    expect(await codeOf(ada.messages.edit(message_id, edit))).toBe('message_streaming')
    answer.say('Because.')
    answer.end()
    await idle()
    expect(await codeOf(grace.messages.edit(message_id, edit))).toBe('forbidden')
    await ada.messages.edit(message_id, edit)
    expect(await read(message_id)).toMatchObject({ content: 'Edited.', status: 'complete' })
    expect((await grace.answers.listChunks(message_id)).map(({ content }) => content)).toEqual(['Because.'])
    const { revisions } = await grace.messages.listRevisions(message_id)
    expect(revisions.map(({ content }) => content)).toEqual(['Because.'])
  })

  it.each<[code: string, spoil: (answer: Answer) => void]>([
    ['provider_error', (answer) => answer.fail(new Error('key sk-secret is wrong'))],
    ['connection_lost', (answer) => answer.fail(new AnswerFailure('connection_lost'))],
    ['invalid_answer', (answer) => answer.say({ delta: 5 } as never)],
    ['answer_too_long', (answer) => answer.say('x'.repeat(101))],
  ])('fail with %s, and keep the text so far', async (code, spoil) => {
    const stream = await follow(world.grace.email)
    const { message_id, root_id, conversation_id } = await ask()
    const answer = await asked()
    answer.say('Because')
    spoil(answer)
    const events = await stream.until('message.done')
    const [failed, done] = events.slice(-2).map(({ event }) => event)
    expect(failed).toEqual({
      type: 'message.failed',
      payload: { message_id, root_id, conversation_id, code, message: expect.any(String) },
    })
    expect(JSON.stringify(events)).not.toContain('sk-secret')
    expect(done!.payload).toMatchObject({ finish_reason: 'failed' })
    expect(await read(message_id)).toMatchObject({ status: 'failed', content: 'Because', finish_reason: 'failed' })
    const replay = await follow(world.grace.email, await beginningOf(conversation_id))
    expect((await replay.until('message.failed')).at(-1)!.event).toEqual(failed)
  })

  it('fail without text', async () => {
    const { message_id } = await ask()
    ;(await asked()).end()
    await idle()
    expect(await read(message_id)).toMatchObject({ status: 'failed', content: '' })
  })

  it('are requested once by a repeated post', async () => {
    const post = () =>
      world.ada.messages.postRoot(
        world.conversation_id,
        { content: 'Why?', role: 'assistant' as const },
        { headers: { 'idempotency-key': 'once' } },
      )
    const [first, second] = await Promise.all([post(), post()])
    expect(second.message_id).toBe(first.message_id)
    const answer = await asked()
    answer.say('Because.')
    answer.end()
    await idle()
    expect(innerState(service).answers.size()).toBe(0)
    expect(await post()).toMatchObject({
      message: { status: 'complete', content: 'Because.' },
      idempotency_replayed: 'true',
    })
    expect(innerState(service).answers.size()).toBe(0)
  })

  it('are counted by outcome', async () => {
    await ask()
    const answer = await asked()
    expect(await service.chat.ops.metrics(null)).toContain('chat_assistant_running 1')
    answer.say('Because.')
    answer.end()
    await idle()
    const page = await service.chat.ops.metrics(null)
    expect(page).toContain('chat_assistant_answers_total{outcome="complete"} 1')
    expect(page).toContain('chat_assistant_first_delta_seconds_count 1')
    expect(page).toContain('chat_assistant_running 0')

    const { message_id } = await ask()
    await world.ada.answers.cancel(message_id)
    await world.ada.answers.cancel(message_id)
    const second = await ask()
    await world.ada.messages.remove(second.message_id)
    expect(await service.chat.ops.metrics(null)).toContain('chat_assistant_answers_total{outcome="cancelled"} 2')
  })
})
