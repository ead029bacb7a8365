import { expect, it, vi } from 'vitest'
import { AnswerFailure } from '../../../lib/chat/answers/answer-failure.ts'
import type { Message } from '../../../lib/client/index.ts'
import { type AnswerVerdict, defineTool } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { ageLeases } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { codeOf, innerState, PASSWORD, startThread, type TestService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'
import { ANY, ask, askIn, call, type ScriptedOptions, useServices } from './world.ts'

/** A hook that the test answers: what it was asked about, and its next verdict. */
function createHook() {
  const asked: Message[] = []
  const waiting: ((verdict: AnswerVerdict) => void)[] = []
  return {
    asked,
    hooks: {
      afterAnswer: ({ message }: { message: Message }) => {
        asked.push(message)
        return new Promise<AnswerVerdict>((resolve) => waiting.push(resolve))
      },
    },
    /** Answers the next question. */
    async decide(verdict?: AnswerVerdict): Promise<void> {
      await vi.waitUntil(() => waiting.length > 0, { timeout: 30_000 })
      waiting.shift()!(verdict)
    },
    /** Resolves when the host has been asked this often. */
    untilAsked: (times: number) => vi.waitUntil(() => asked.length >= times, { timeout: 30_000 }),
  }
}

const PICTURE = Buffer.from('not much of a picture')
const everything: ScriptedOptions['script'] = () => [
  { reasoning: 'Hm.' },
  'Because ',
  { tool: { id: 'search', name: 'search', input: { q: 'why' } } },
  { source: { url: 'https://example.org/', title: 'Why' } },
  { file: { name: 'why.txt', bytes: PICTURE } },
  { delta: 'it is so.', usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }, metadata: { a: 1 } },
]
const withdraw = { withdraw: 'It names a customer.' }
const twoSteps: ScriptedOptions['script'] = ({ step }) => (step === 1 ? ['I look. ', call('tool')] : ['So it is.'])

describeOnEachDatabase('an answer about which the host is asked', (openUrl) => {
  const { start } = useServices(openUrl)

  async function startHeld(options: Partial<ScriptedOptions> & { hold?: boolean } = {}) {
    const hook = createHook()
    const { hold = true, ...more } = options
    const tool = defineTool({ description: 'Ends', input: ANY, run: () => 1 })
    const { service } = await start({
      ...{ tools: { tool }, script: everything, ports: { hooks: hook.hooks }, assistant: { hold } },
      ...{ config: { attachments: await filesInFolder() }, ...more },
    })
    return { hook, service }
  }

  /** The types of the events of an answer in the log, in their order. */
  const eventsOf = async (service: TestService, message_id: string) =>
    (
      await innerState(service).db.all<{ type: string }>(
        sql`SELECT type FROM events WHERE message_id = ${message_id} AND type <> 'thread.new' ORDER BY seq`,
      )
    ).map(({ type }) => type)

  const chunksIn = (service: TestService) =>
    innerState(service).db.all(sql`SELECT idx FROM message_chunks ORDER BY message_id, idx`)

  const isSound = async (service: TestService) => expect((await service.chat.ops.fsck()).findings).toEqual([])

  it('is complete once the hook has seen all that its readers get', async () => {
    const { hook, service } = await startHeld({ hold: false })
    const { read, untilEnded } = await askIn(service)
    await hook.untilAsked(1)
    expect(await read()).toMatchObject({ status: 'streaming', content: 'Because it is so.' })
    await hook.decide()
    const message = await untilEnded()
    expect(message).toMatchObject({ status: 'complete', usage: { total_tokens: 7 }, metadata: { a: 1 } })
    expect(hook.asked).toEqual([message])
    await isSound(service)
  })

  it('is withdrawn in one transaction: failed, and deleted with the reason, which managers read', async () => {
    const { hook, service } = await startHeld({ hold: false })
    const { ada, grace, conversation_id } = await startThread(service)
    const { message_id, untilEnded } = await ask({ ada: grace, conversation_id })
    await hook.decide(withdraw)
    const message = await untilEnded()
    expect(message).toMatchObject({ status: 'failed', deleted_at: expect.any(String), content: '' })
    expect([message.failure, message.parts, message.attachments]).toEqual([undefined, undefined, undefined])
    const { delete_reason } = await ada.messages.get(message_id)
    expect([delete_reason, message.delete_reason]).toEqual(times(2, () => 'It names a customer.'))
    expect((await eventsOf(service, message_id)).slice(-3)).toEqual([
      'message.failed',
      'message.done',
      'message.deleted',
    ])
    expect(await codeOf(grace.messages.restore(message_id))).toBe('forbidden')
    const { db } = innerState(service)
    expect(await db.get(sql`SELECT prompt_tokens, completion_tokens FROM usage_entries`)).toEqual({
      prompt_tokens: 3,
      completion_tokens: 4,
    })
    await isSound(service)
    await ada.messages.restore(message_id)
    expect(await grace.messages.get(message_id)).toMatchObject({
      status: 'failed',
      failure: 'refused',
      content: 'Because it is so.',
    })
  })

  it('is held: readers get nothing of it before the hook has seen the whole, and then the whole', async () => {
    const { hook, service } = await startHeld()
    const { ada, conversation_id } = await startThread(service)
    const { cookie } = await signInByHand(service.base_url, 'grace@example.org', PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    const { message_id, read, untilEnded } = await ask({ ada, conversation_id })
    await hook.untilAsked(1)
    const before = await read()
    expect([before.status, before.content, before.parts, before.attachments]).toEqual([
      'streaming',
      '',
      undefined,
      undefined,
    ])
    expect([await ada.answers.listChunks(message_id, {}), await chunksIn(service)]).toEqual([[], []])
    expect(await eventsOf(service, message_id)).toEqual(['message.new'])
    const [file] = hook.asked[0]!.attachments!
    expect((await ada.attachments.get(file!.id)).attachment.size).toBe(PICTURE.length)
    await hook.decide()
    const message = await untilEnded()
    expect(message).toMatchObject({ status: 'complete', content: 'Because it is so.' })
    expect(message.parts!.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool', 'source', 'file', 'text'])
    expect(hook.asked).toEqual([message])
    const seen = (await stream.until('message.done')).map(({ event }) => event.type)
    expect(seen.filter((type) => type === 'message.delta' || type === 'message.part')).toHaveLength(7)
    await stream.close()
    await isSound(service)
  })

  it.each<[string, ScriptedOptions['script'], AnswerVerdict | 'unasked', object]>([
    ['is withdrawn', everything, withdraw, { status: 'failed', delete_reason: 'It names a customer.' }],
    [
      'fails',
      () => ['Because', Promise.reject(new AnswerFailure('provider_busy'))],
      'unasked',
      { failure: 'provider_busy' },
    ],
  ])(
    'stores nothing of what it was held back if it %s, and counts it all the same',
    async (_, script, verdict, end) => {
      const { hook, service } = await startHeld({ script })
      const { message_id, untilEnded } = await askIn(service)
      if (verdict !== 'unasked') await hook.decide(verdict)
      expect(await untilEnded()).toMatchObject({ content: '', ...end })
      expect(await chunksIn(service)).toEqual([])
      expect((await eventsOf(service, message_id)).filter((type) => /delta|part/.test(type))).toEqual([])
      expect(hook.asked).toHaveLength(verdict === 'unasked' ? 0 : 1)
      const { db } = innerState(service)
      const used = await db.get<{ completion_tokens: number }>(sql`SELECT completion_tokens FROM usage_entries`)
      expect(used!.completion_tokens).toBeGreaterThan(0)
      await isSound(service)
    },
  )

  it('is held with tools: the hook sees the text before each call of it is stored, and the whole at the end', async () => {
    const { hook, service } = await startHeld({ script: twoSteps })
    const { read, calls, untilEnded } = await askIn(service)
    await hook.untilAsked(1)
    expect([(await read()).content, await calls()]).toEqual(['', []])
    await hook.decide()
    await hook.untilAsked(2)
    expect((await read()).content).toBe('I look. ')
    expect(await calls()).toMatchObject([{ state: 'done' }])
    await hook.decide()
    const message = await untilEnded()
    expect(message.content).toBe('I look. \n\nSo it is.')
    expect(hook.asked.map(({ status, content }) => [status, content])).toEqual([
      ['streaming', 'I look. '],
      ['complete', 'I look. \n\nSo it is.'],
    ])
    expect(hook.asked[1]).toEqual(message)
    await isSound(service)
  })

  it('runs no tool that a withdrawn text calls, and asks about no call without a text', async () => {
    let runs = 0
    const tool = defineTool({ description: 'Counts', input: ANY, run: () => ++runs })
    const { hook, service } = await startHeld({ script: twoSteps, tools: { tool } })
    const { untilEnded, calls } = await askIn(service)
    await hook.decide(withdraw)
    expect(await untilEnded()).toMatchObject({ status: 'failed', delete_reason: 'It names a customer.' })
    expect([runs, await calls()]).toEqual([0, []])
    const silent = await startHeld({ script: ({ step }) => (step === 1 ? [call('tool')] : ['Yes.']) })
    const second = await askIn(silent.service)
    await silent.hook.decide()
    await second.untilEnded()
    expect(silent.hook.asked.map(({ status }) => status)).toEqual(['complete'])
    await isSound(silent.service)
  })

  it('is cancelled while the hook is asked: what was held back is gone, and the verdict changes nothing', async () => {
    const { hook, service } = await startHeld()
    const { ada, message_id, read } = await askIn(service)
    await hook.untilAsked(1)
    await ada.answers.cancel(message_id)
    await innerState(service).answers.idle()
    await hook.decide()
    expect(await read()).toMatchObject({ status: 'cancelled', content: '' })
    expect(await chunksIn(service)).toEqual([])
    await isSound(service)
  })

  /** Makes another node take what a node has, as if that node were dead. */
  const takeOver = (from: TestService, by: TestService, isTaken: () => Promise<boolean> | boolean) =>
    vi.waitUntil(
      async () => {
        await ageLeases(from.chat, 11)
        await innerState(by).answers.renewLeases()
        return isTaken()
      },
      { timeout: 30_000, interval: 50 },
    )

  it('is interrupted, with nothing of it, if the process dies while the hook is asked', async () => {
    const first = await startHeld()
    const other = await startHeld()
    const { read } = await askIn(first.service)
    await first.hook.untilAsked(1)
    await takeOver(first.service, other.service, async () => (await read()).status === 'interrupted')
    await first.hook.decide()
    await innerState(first.service).answers.idle()
    expect([await read(), await chunksIn(other.service)]).toMatchObject([{ status: 'interrupted', content: '' }, []])
    expect(other.hook.asked).toEqual([])
    await isSound(other.service)
  })

  it('goes on after its tools if the process dies while the hook is asked: the next one asks the model again', async () => {
    const first = await startHeld({ script: twoSteps })
    const other = await startHeld({ script: twoSteps })
    const { untilEnded } = await askIn(first.service)
    await first.hook.decide()
    await first.hook.untilAsked(2)
    await takeOver(first.service, other.service, () => other.hook.asked.length > 0)
    await other.hook.decide()
    await first.hook.decide(withdraw)
    expect(await untilEnded()).toMatchObject({ status: 'complete', content: 'I look. \n\nSo it is.' })
    await innerState(first.service).answers.idle()
    expect((await other.service.chat.ops.fsck()).findings).toEqual([])
  })

  it('is interrupted, or after its tools handed over, if the service stops while the hook is asked', async () => {
    const { hook, service } = await startHeld({
      script: ({ turns, ...more }) => (turns.at(-1)?.content === 'Why?' ? twoSteps({ turns, ...more }) : ['No.']),
    })
    const { ada, conversation_id, message_id } = await askIn(service)
    await hook.decide()
    await hook.untilAsked(2)
    const { message_id: plain } = await ada.messages.postRoot(conversation_id, { content: 'And?', role: 'assistant' })
    await hook.untilAsked(3)
    await service.close()
    const next = await startHeld({ script: twoSteps })
    await next.hook.decide()
    const actor = await next.service.chat.users.actor(ada.id)
    const get = (id: string) => next.service.chat.messages.get(actor, id)
    expect(await get(plain)).toMatchObject({ status: 'interrupted', content: '' })
    await vi.waitUntil(async () => (await get(message_id)).status === 'complete', { timeout: 30_000 })
    expect(next.hook.asked).toMatchObject([{ id: message_id, content: 'I look. \n\nSo it is.' }])
    await isSound(next.service)
  })
})
