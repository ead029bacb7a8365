import { expect, it, vi } from 'vitest'
import { lookAtWritten, readRows } from '../../../lib/chat/answers/service-rows.ts'
import { insertChunk } from '../../../lib/chat/answers/store.ts'
import { readEvents } from '../../../lib/client/event-stream.ts'
import { formatEvent } from '../../../lib/core/sse-format.ts'
import { streamToWeb } from '../../../lib/http/response/sse.ts'
import { defineTool } from '../../../lib/index.ts'
import { type AnswerStreamOptions, openAnswer } from '../../../lib/protocols/rows/following.ts'
import type { AnswerFrames, Span } from '../../../lib/protocols/rows/framing.ts'
import { sharedPagesOf } from '../../../lib/protocols/rows/shared-pages.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { ANY, askIn, call, useServices } from '../../assistant/runs/world.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { collectGarbage } from '../../support/gc.ts'
import { codeOf, innerState, startService, startThread, type TestService } from '../../support/service.ts'

const frame = (value: unknown) => formatEvent({ data: JSON.stringify(value) })

/** Frames that show what a protocol gets. */
const SHOWN: () => AnswerFrames = () => ({
  begin: () => frame('begin'),
  row: (step) => frame(step.type === 'text' ? `${step.begins ? '+' : ''}${step.text}` : shown(step.change)),
  wait: (calls) => frame(`wait for ${calls.map(({ name }) => name).join()}`),
  end: ({ status }) => frame(status),
})

const shown = ({ type, state = '' }: { type: string; state?: string | undefined }) => `${type} ${state}`.trim()

describeOnEachDatabase('the rows of an answer as the frames of a protocol', (openUrl) => {
  const servers = useServices(openUrl)

  /** The stream of an answer, for a user by id. */
  async function follow(
    { chat }: TestService,
    userId: string,
    messageId: string,
    span: Span = 'all',
    more: Partial<AnswerStreamOptions> = {},
  ) {
    const ctx = innerState(chat)
    const options = { protocol: 'ui_stream', span, frames: SHOWN, ...more } as const
    const opening = await openAnswer(ctx, await chat.users.actor(userId), messageId, options)
    const frames = readEvents(streamToWeb([], opening).body!)
    return {
      async next(): Promise<unknown> {
        const { value } = await frames.next()
        return value && JSON.parse(value.data)
      },
      async rest(): Promise<unknown[]> {
        const all: unknown[] = []
        for await (const { data } of frames) all.push(JSON.parse(data))
        return all
      },
      leave: () => frames.return(undefined),
    }
  }

  const streamsOf = (chat: TestService['chat'], userId: string) => innerState(chat).streams.hub.countStreams(userId)

  async function startPuppet() {
    const puppet = createPuppet()
    const service = await startService(servers.url(), {
      ports: { assistant: puppet.assistant },
      config: { assistant: { drain_seconds: 0 } },
    })
    servers.services.push(service)
    const world = await startThread(service)
    const { message_id } = await world.ada.messages.postRoot(world.conversation_id, {
      content: 'Why?',
      role: 'assistant',
    })
    return { ...world, service, message_id, answer: await puppet.asked() }
  }

  it('sends the rows so far, and those that follow, up to the end; on another node, too', async () => {
    const { service, ada, grace, message_id, answer } = await startPuppet()
    const other = await startService(servers.url())
    servers.services.push(other)
    answer.say('The ')
    const first = await follow(service, ada.id, message_id)
    expect(await first.next()).toBe('begin')
    expect(await first.next()).toBe('+The ')
    const second = await follow(other, grace.id, message_id)
    expect(await second.next()).toBe('begin')
    expect(await second.next()).toBe('+The ')
    answer.say({ reasoning: 'why' })
    expect(await first.next()).toBe('reasoning')
    expect(await second.next()).toBe('reasoning')
    answer.say('sky.')
    answer.end()
    expect(await first.rest()).toEqual(['+sky.', 'complete'])
    expect(await second.rest()).toEqual(['+sky.', 'complete'])
    // Its places are free again.
    expect([streamsOf(service.chat, ada.id), streamsOf(other.chat, grace.id)]).toEqual([0, 0])
    const late = await follow(other, ada.id, message_id)
    expect(await late.rest()).toEqual(['begin', '+The ', 'reasoning', '+sky.', 'complete'])
  })

  it('has one text once the answer is edited, and is not found once it is deleted, or by outsiders', async () => {
    const { service, ada, eve, message_id, answer } = await startPuppet()
    answer.say('The ', { data: { name: 'chart', data: 1 } }, 'sky.')
    answer.end()
    await vi.waitUntil(async () => (await ada.messages.get(message_id)).status === 'complete', { timeout: 30_000 })
    await ada.messages.edit(message_id, { content: 'Air.' })
    expect(await (await follow(service, ada.id, message_id)).rest()).toEqual(['begin', '+Air.', 'complete'])
    expect(await codeOf(follow(service, eve.id, message_id))).toBe('not_found')
    await ada.messages.remove(message_id, {})
    expect(await codeOf(follow(service, ada.id, message_id))).toBe('not_found')
  })

  it('keeps no rows that were read before, once it has sent them', async () => {
    const { service, ada, message_id, answer } = await startPuppet()
    answer.say('The ', { reasoning: 'why' })
    const read = async () => {
      const actor = await service.chat.users.actor(ada.id)
      const { rows } = await readRows.run(innerState(service.chat), actor, message_id, { from: 0, limit: 100 })
      return { rows, refs: rows.map((row) => new WeakRef(row)) }
    }
    const start = async () => {
      const { rows, refs } = await vi.waitUntil(
        async () => {
          const all = await read()
          return all.rows.length === 2 && all
        },
        { timeout: 30_000 },
      )
      return { refs, stream: await follow(service, ada.id, message_id, 'all', { rows, shared_as: 'shown' }) }
    }
    const { refs, stream } = await start()
    for (const frames of ['begin', '+The ', 'reasoning']) expect(await stream.next()).toBe(frames)
    await collectGarbage()
    expect(refs.map((ref) => ref.deref())).toEqual([undefined, undefined])
    answer.end()
    expect(await stream.rest()).toEqual(['complete'])
  })

  it('is not found for a message that was posted as a whole', async () => {
    const { service, ada, root } = await startPuppet()
    expect(await codeOf(follow(service, ada.id, root.message_id))).toBe('not_found')
  })

  it('is broken off without an end when the service drains, and when its reader is removed', async () => {
    const { service, ada, grace, conversation_id, message_id, answer } = await startPuppet()
    answer.say('The ')
    const [first, second] = [await follow(service, ada.id, message_id), await follow(service, grace.id, message_id)]
    for (const each of [first, second]) {
      expect(await each.next()).toBe('begin')
      expect(await each.next()).toBe('+The ')
    }
    await ada.participants.remove(conversation_id, grace.id)
    await expect(second.rest()).rejects.toThrow('broken off')
    service.chat.drain()
    await expect(first.rest()).rejects.toThrow('broken off')
  })

  it('counts as a stream of its reader, who has only so many', async () => {
    const { service, ada, message_id, answer } = await startPuppet()
    const { max_streams_per_user } = innerState(service.chat).config.sse
    answer.say('The ')
    const open = []
    for (let n = 0; n < max_streams_per_user; n++) open.push(await follow(service, ada.id, message_id))
    expect(await codeOf(follow(service, ada.id, message_id))).toBe('too_many_streams')
    for (const each of open) {
      await each.next()
      await each.leave()
    }
    await vi.waitUntil(() => streamsOf(service.chat, ada.id) === 0, { timeout: 30_000 })
  })

  it('ends as cancelled when the answer is deleted while it is written', async () => {
    const { service, ada, message_id, answer } = await startPuppet()
    answer.say('The ')
    const stream = await follow(service, ada.id, message_id)
    expect([await stream.next(), await stream.next()]).toEqual(['begin', '+The '])
    await ada.messages.remove(message_id, {})
    expect(await stream.rest()).toEqual(['cancelled'])
  })

  /** Adds rows to an answer: to have a model write as many would take long. */
  async function addRows({ chat }: TestService, messageId: string, count: number): Promise<void> {
    const { write, now } = innerState(chat)
    await write(async (tx) => {
      for (let idx = 1; idx <= count; idx++)
        await insertChunk(tx, { message_id: messageId, idx, content: `${idx} `, created_at: now() })
    })
  }

  it('is rendered once for streams that come back together, each with its own right', async () => {
    const { service, ada, grace, conversation_id, message_id, answer } = await startPuppet()
    answer.say('The sky.')
    answer.end()
    await vi.waitUntil(async () => (await ada.messages.get(message_id)).status === 'complete', { timeout: 30_000 })
    // Of several pages, the last of which is not full.
    await addRows(service, message_id, 2_500)
    let rendered = 0
    const frames = () => ({
      ...SHOWN(),
      row: () => {
        rendered++
        return frame('row')
      },
      save: () => undefined,
      restore: () => undefined,
    })
    const alone = await follow(service, ada.id, message_id, 'all', { frames, shared_as: 'rows' })
    const whole = await alone.rest()
    const rows = rendered
    expect(whole).toEqual(['begin', ...Array(rows).fill('row'), 'complete'])
    rendered = 0
    const { max_streams_per_user } = innerState(service.chat).config.sse
    const people = Array.from({ length: max_streams_per_user }, () => [ada.id, grace.id]).flat()
    // The first one to come is not alone either.
    const ctx = innerState(service.chat)
    const key = JSON.stringify([message_id, 'rows', 'all'])
    const held = sharedPagesOf(ctx.streams.hub)(key, () => lookAtWritten(ctx, message_id))
    const together = await Promise.all(
      people.map((id) => follow(service, id, message_id, 'all', { frames, shared_as: 'rows' })),
    )
    for (const each of await Promise.all(together.map((stream) => stream.rest()))) expect(each).toEqual(whole)
    expect(rendered).toBe(rows)
    held.leave()
    // With another word each renders for itself.
    rendered = 0
    const apart = await Promise.all(
      [1, 2].map((n) => follow(service, ada.id, message_id, 'all', { frames, shared_as: `${n}` })),
    )
    await Promise.all(apart.map((stream) => stream.rest()))
    expect(rendered).toBe(2 * rows)
    await ada.participants.remove(conversation_id, grace.id)
    expect(await codeOf(follow(service, grace.id, message_id, 'all', { frames, shared_as: 'rows' }))).toBe('not_found')
  })

  it('is not sent to a reader who was removed while another stream rendered it', async () => {
    const { service, ada, grace, conversation_id, message_id, answer } = await startPuppet()
    answer.say('The ')
    const ctx = innerState(service.chat)
    const key = JSON.stringify([message_id, 'rows', 'all'])
    const join = () => sharedPagesOf(ctx.streams.hub)(key, () => lookAtWritten(ctx, message_id))
    const [group] = [join(), join()]
    const settle = group.begin(0)!
    const frames = () => ({ ...SHOWN(), save: () => undefined, restore: () => undefined })
    const stream = await follow(service, grace.id, message_id, 'all', { frames, shared_as: 'rows' })
    expect(await stream.next()).toBe('begin')
    // As another node does it, of which this one does not know yet.
    await ctx.write((tx) =>
      tx.run(sql`DELETE FROM participants WHERE conversation_id = ${conversation_id} AND user_id = ${grace.id}`),
    )
    const bytes = Buffer.from(frame('written since'))
    settle({ bytes, next: 9, last_at: undefined, is_end: false, steps: undefined, frames: undefined })
    await expect(stream.rest()).rejects.toThrow('broken off')
    expect((await ada.messages.get(message_id)).status).toBe('streaming')
  })

  /** An answer with two calls that wait. */
  async function startWaiting() {
    const tool = (name: string) =>
      defineTool({ description: name, input: ANY, run: async () => name, approval: { by: 'asker' } })
    const { service } = await servers.start({
      tools: { refund: tool('refund'), pay: tool('pay') },
      script: ({ step }) => (step === 1 ? ['Let me.', call('refund'), call('pay')] : ['Done.']),
    })
    return { service, ...(await askIn(service)) }
  }

  const ASKED = ['begin', '+Let me.', 'tool requested', 'tool requested', 'tool waiting', 'tool waiting']
  const RAN = ['tool running', 'tool done']

  it('ends where the answer waits; a replay passes over a wait that is over, and the next segment begins behind it', async () => {
    const { service, ada, message_id, calls } = await startWaiting()
    const first = await follow(service, ada.id, message_id)
    expect(await first.rest()).toEqual([...ASKED, 'wait for refund,pay'])
    // Again, as long as nothing is decided.
    expect(await (await follow(service, ada.id, message_id)).rest()).toEqual([...ASKED, 'wait for refund,pay'])
    const end = (await ada.answers.listChunks(message_id)).at(-1)!.idx
    expect(await (await follow(service, ada.id, message_id, { after: end })).rest()).toEqual([
      'begin',
      'wait for refund,pay',
    ])

    const [refund, pay] = (await calls()).map(({ call_id }) => call_id)
    await ada.approvals.decide(refund!, { approve: false })
    const denied = ['tool denied', 'wait for pay']
    expect(await (await follow(service, ada.id, message_id, { after: end })).rest()).toEqual(['begin', ...denied])
    expect(await (await follow(service, ada.id, message_id)).rest()).toEqual([...ASKED, ...denied])

    const next = (await ada.answers.listChunks(message_id)).at(-1)!.idx
    await ada.approvals.decide(pay!, { approve: true })
    const rest = ['tool approved', ...RAN, 'step', '+Done.', 'complete']
    const shownRest = (await (await follow(service, ada.id, message_id, { after: next })).rest()) as string[]
    expect(shownRest.map((each) => each.replace('\n\n', ''))).toEqual(['begin', ...rest])
    // A request for both ends behind its own decision, and passes over the wait before.
    const decided = (await ada.answers.listChunks(message_id))[next + 1]!.idx
    const own = (await (await follow(service, ada.id, message_id, { after: end, until: decided })).rest()) as string[]
    expect(own.map((each) => each.replace('\n\n', ''))).toEqual(['begin', 'tool denied', ...rest])
    // The segment before ends where it ended.
    expect(await (await follow(service, ada.id, message_id, { after: end })).rest()).toEqual(['begin', ...denied])
    const whole = (await (await follow(service, ada.id, message_id)).rest()) as string[]
    expect(whole.map((each) => each.replace('\n\n', ''))).toEqual([...ASKED, 'tool denied', ...rest])
  })

  it('does not end between the decisions of one request', async () => {
    const { service, ada, message_id, calls } = await startWaiting()
    await (await follow(service, ada.id, message_id)).rest()
    const end = (await ada.answers.listChunks(message_id)).at(-1)!.idx
    const actor = await service.chat.users.actor(ada.id)
    const ids = (await calls()).map(({ call_id }) => call_id)
    const stream = await follow(service, ada.id, message_id, { after: end })
    expect(await stream.rest()).toEqual(['begin', 'wait for refund,pay'])
    await service.chat.approvals.decide(actor, ids, { approve: false })
    const rest = (await (await follow(service, ada.id, message_id, { after: end })).rest()) as string[]
    expect(rest.map((each) => each.replace('\n\n', ''))).toEqual([
      'begin',
      'tool denied',
      'tool denied',
      'step',
      '+Done.',
      'complete',
    ])
  })
})
