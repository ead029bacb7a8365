import { beforeAll, expect, it } from 'vitest'
import type { Message, PostedMessage } from '../../../lib/client/index.ts'
import { AnswerFailure } from '../../../lib/index.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { listEventsAfter } from '../../support/events-after.ts'
import { codeOf, type Person, startService, startThread, times } from '../../support/service.ts'

describeOnEachDatabase('an answer that is a variant', (openUrl) => {
  const puppet = createPuppet()
  const hooked: string[] = []
  const service = setUpService(async () =>
    startService(await openUrl(), {
      ports: {
        assistant: puppet.assistant,
        hooks: {
          beforeMessage: ({ content }) => {
            if (content === 'hooked') hooked.push(content)
          },
        },
      },
    }),
  )
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ;({ ada, grace } = await startThread(service))
  })

  const ended = async (posted: Promise<PostedMessage>): Promise<Message> => {
    const { message_id } = await posted
    const answer = await puppet.asked()
    answer.say('Because.')
    answer.end()
    await service.idle()
    return ada.messages.get(message_id)
  }

  async function begin() {
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const root = (await grace.messages.postRoot(conversation_id, { content: 'root' })).message
    const ask = (person: Person, parent_id: string | undefined, variant_of?: string, content = 'Why?') => {
      const input = { content, role: 'assistant' as const, ...(variant_of && { variant_of }) }
      return parent_id ? person.messages.reply(parent_id, input) : person.messages.postRoot(conversation_id, input)
    }
    return { conversation_id, root, ask }
  }

  it.each(['a reply', 'a root'])('belongs to the set of the first one, whichever of it is named (%s)', async (kind) => {
    const { conversation_id, root, ask } = await begin()
    const parent = kind === 'a reply' ? root.id : undefined
    const { stream_position } = await ada.conversations.get(conversation_id)
    const first = await ended(ask(ada, parent))
    expect(first).not.toHaveProperty('variant_of')
    const second = await ended(ask(ada, parent, first.id))
    const third = await ended(ask(grace, parent, second.id, 'Why, really?'))
    expect([second, third].map(({ variant_of }) => variant_of)).toEqual(times(2, () => first.id))
    expect(third).toMatchObject({ prompt: 'Why, really?', requested_by: grace.id })
    const events = await listEventsAfter(ada, conversation_id, stream_position!)
    const posted = events.flatMap(({ type, payload }) =>
      type === 'message.new' ? (payload as { message: Message }).message : [],
    )
    expect(posted.map(({ variant_of }) => variant_of)).toEqual([undefined, first.id, first.id])
    const read = (await ada.messages.list(conversation_id, { view: 'all' })).messages
    expect(read.filter(({ variant_of }) => variant_of === first.id).map(({ id }) => id)).toEqual([second.id, third.id])
    // The set keeps its name when its first answer is deleted, which then is no place for another.
    await ada.messages.remove(first.id)
    expect(await codeOf(ask(ada, parent, first.id))).toBe('message_deleted')
    expect((await ended(ask(ada, parent, third.id))).variant_of).toBe(first.id)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('has the parent of an answer in the same conversation, and is asked of the assistant', async () => {
    const { conversation_id, root, ask } = await begin()
    const other = await begin()
    const answer = await ended(ask(ada, root.id))
    const rooted = await ended(ask(ada, undefined))
    const foreign = await ended(other.ask(ada, undefined))
    const mine = (await ada.messages.reply(root.id, { content: 'mine' })).message
    for (const content of ['plain', 'hooked']) {
      for (const id of [rooted.id, foreign.id, root.id, mine.id, ada.id, 'no id'])
        expect([id, await codeOf(ask(ada, root.id, id, content))]).toEqual([id, 'validation_failed'])
      for (const id of [answer.id, foreign.id, mine.id])
        expect([id, await codeOf(ask(ada, undefined, id, content))]).toEqual([id, 'validation_failed'])
      for (const role of ['user', undefined] as const) {
        const input = { content, role, variant_of: answer.id }
        expect(await codeOf(ada.messages.reply(root.id, input))).toBe('validation_failed')
        const first = { content, role, variant_of: rooted.id }
        expect(await codeOf(ada.messages.postRoot(conversation_id, first))).toBe('validation_failed')
      }
    }
    expect(hooked).toEqual([])
    await ended(ask(ada, root.id, answer.id, 'hooked'))
    expect(hooked).toEqual(['hooked'])
    const clock = await service.chat.system('clock')
    const theirs = { content: 'tick', variant_of: rooted.id }
    expect(await codeOf(service.chat.messages.postRoot(clock, conversation_id, theirs))).toBe('validation_failed')
  })

  it('is asked for without a role in the layout of the assistant, and is part of what a key repeats', async () => {
    const { conversation_id, ask } = await begin()
    const first = await ended(ask(ada, undefined))
    await ada.conversations.rename(conversation_id, { layout: 'assistant' })
    const key = (variant_of?: string) =>
      ada.messages.postRoot(
        conversation_id,
        { content: 'Again?', ...(variant_of && { variant_of }) },
        { headers: { 'idempotency-key': `key-${conversation_id}` } },
      )
    const second = await ended(key(first.id))
    expect(second.variant_of).toBe(first.id)
    expect((await key(first.id)).message).toEqual(second)
    expect(await codeOf(key())).toBe('idempotency_mismatch')
    expect(await codeOf(key(second.id))).toBe('idempotency_mismatch')
    // Also once its answer is deleted.
    await ada.messages.remove(first.id)
    expect((await key(first.id)).message_id).toBe(second.id)
  })

  it('is of an answer at the time of its post, whatever else happens to that', async () => {
    const { root, ask } = await begin()
    for (let n = 0; n < 5; n++) {
      const first = await ended(ask(ada, root.id))
      const [, posted] = await Promise.all([
        ada.messages.remove(first.id),
        ask(ada, root.id, first.id).catch((error) => error.code as string),
      ])
      if (typeof posted === 'string') expect(posted).toBe('message_deleted')
      else expect((await ended(Promise.resolve(posted))).variant_of).toBe(first.id)
    }
  })

  it.each(['keep', 'erase'] as const)('stays in its place when users of the set are erased (%s)', async (messages) => {
    const { conversation_id, root, ask } = await begin()
    const hal = await service.signIn(`hal-${messages}`)
    await ada.participants.add(conversation_id, { user_id: hal.id })
    const first = await ended(ask(hal, root.id))
    const second = await ended(ask(ada, root.id, first.id))
    const third = await ended(ask(hal, root.id, second.id))
    await ada.users.erase(hal.id, { messages })
    for (const isProcessed of [false, true]) {
      if (isProcessed) await service.idle()
      const tree = await ada.threads.tree(root.id)
      const variants = tree.messages.filter(({ depth }) => depth === 1)
      expect(variants.map(({ id, variant_of }) => [id, variant_of])).toEqual([
        [first.id, undefined],
        [second.id, first.id],
        [third.id, first.id],
      ])
      if (messages === 'erase') expect(await codeOf(ask(ada, root.id, third.id))).toBe('message_deleted')
    }
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('has the reason of its failure, as long as it is there', async () => {
    const { conversation_id, root, ask } = await begin()
    const { stream_position } = await ada.conversations.get(conversation_id)
    const { message_id } = await ask(ada, root.id)
    ;(await puppet.asked()).fail(new AnswerFailure('connection_lost'))
    await service.idle()
    const failed = { status: 'failed', finish_reason: 'failed', failure: 'connection_lost' }
    expect(await ada.messages.get(message_id)).toMatchObject(failed)
    expect((await ada.threads.tree(root.id)).messages.at(-1)).toMatchObject(failed)
    const events = await listEventsAfter(ada, conversation_id, stream_position!)
    expect(events.find(({ type }) => type === 'message.failed')!.payload).toMatchObject({ code: 'connection_lost' })
    // An answer begins without it.
    const begun = events.find(({ type }) => type === 'message.new')!.payload
    expect(begun).toMatchObject({ message: { status: 'streaming' } })
    expect((begun as { message: Message }).message).not.toHaveProperty('failure')
    expect(await ended(ask(ada, root.id, message_id))).not.toHaveProperty('failure')
  })
})
