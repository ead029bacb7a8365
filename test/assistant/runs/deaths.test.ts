import { expect, it, vi } from 'vitest'
import { defineTool } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { ageLeases } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, type TestService } from '../../support/service.ts'
import { ANY, ask, askIn, call, type ScriptedOptions, useServices } from './world.ts'

/** Another node takes an answer within seconds. */
const PATIENT = { timeout: 30_000 }

/** A tool that never returns, what it was called with, and a way to let it return. */
function createStuck(options: { idempotent?: boolean } = {}) {
  const runs: { attempt: number; call_id: string }[] = []
  let release = () => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const tool = defineTool({
    description: 'Hangs',
    input: ANY,
    ...options,
    run: async (_, { attempt, call_id }) => {
      runs.push({ attempt, call_id })
      await gate
      return 'late'
    },
  })
  return { tool, runs, release: () => release() }
}

const twoSteps: ScriptedOptions['script'] = ({ step }) => (step === 1 ? [call('tool')] : ['So it is.'])

describeOnEachDatabase('an answer with tools whose process dies', (openUrl) => {
  const { services, start } = useServices(openUrl)

  /** Makes another node take what a node has, as if that node were dead; its timer may renew its leases in between. */
  const takeOver = (from: TestService, by: TestService, isTaken: () => Promise<boolean> | boolean) =>
    vi.waitUntil(
      async () => {
        await ageLeases(from.chat, 11)
        await innerState(by).answers.renewLeases()
        return isTaken()
      },
      { timeout: 30_000, interval: 50 },
    )

  it('does not start a call again that may have happened, and drops its late result', async () => {
    const { tool, runs, release } = createStuck()
    const { service } = await start({ tools: { tool }, script: twoSteps })
    const { service: other, requests } = await start({ tools: { tool }, script: twoSteps })
    const { calls, untilEnded } = await askIn(service)
    await expect.poll(() => runs, PATIENT).toHaveLength(1)
    await takeOver(service, other, async () => (await calls())[0]!.state !== 'running')
    expect(await untilEnded()).toMatchObject({ status: 'complete', content: 'So it is.' })
    release()
    await innerState(service).answers.idle()
    expect(await calls()).toMatchObject([{ state: 'unknown' }])
    expect(runs).toHaveLength(1)
    expect(requests.map(({ step, so_far }) => [step, so_far.length])).toEqual([[2, 1]])
    expect((await other.chat.ops.fsck()).findings).toEqual([])
  })

  it('starts an idempotent call again with the same id, three times in all', async () => {
    const { tool, runs, release } = createStuck({ idempotent: true })
    const { service } = await start({ tools: { tool }, script: twoSteps })
    const { service: other } = await start({ tools: { tool }, script: twoSteps })
    const { calls, untilEnded } = await askIn(service)
    await expect.poll(() => runs, PATIENT).toHaveLength(1)
    const nodes = [service, other]
    for (const attempt of [2, 3]) {
      await takeOver(nodes[attempt % 2]!, nodes[(attempt + 1) % 2]!, () => runs.length === attempt)
    }
    await takeOver(nodes[0]!, nodes[1]!, async () => (await calls())[0]!.state === 'unknown')
    expect((await untilEnded()).status).toBe('complete')
    release()
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
    expect(new Set(runs.map(({ call_id }) => call_id)).size).toBe(1)
  })

  it('asks the model again if all calls have ended and it has said nothing, three times in all', async () => {
    const never = new Promise<never>(() => {})
    const silent: ScriptedOptions['script'] = ({ step }) => (step === 1 ? [call('tool')] : [never])
    const tool = defineTool({ description: 'Ends', input: ANY, run: () => 1 })
    const { service, requests } = await start({ tools: { tool }, script: silent })
    const { service: other, requests: later } = await start({ tools: { tool }, script: silent })
    const { read } = await askIn(service)
    await expect.poll(() => requests, PATIENT).toHaveLength(2)
    const nodes = [service, other]
    const asked = () => requests.length + later.length
    for (const attempt of [2, 3])
      await takeOver(nodes[attempt % 2]!, nodes[(attempt + 1) % 2]!, () => asked() === attempt + 1)
    await takeOver(nodes[0]!, nodes[1]!, async () => (await read()).status === 'interrupted')
    expect(asked()).toBe(4)
  })

  it('keeps the metadata of the steps before, whichever process goes on, and whoever ends it', async () => {
    const { tool, runs, release } = createStuck({ idempotent: true })
    const script: ScriptedOptions['script'] = ({ step }) =>
      step === 1 ? [{ metadata: { mood: 'calm' } }, call('tool')] : ['So it is.']
    const { service } = await start({ tools: { tool }, script })
    const { service: other, requests } = await start({ tools: { tool }, script })
    const { ada, conversation_id, untilEnded } = await askIn(service)
    const { read: readSecond, ...second } = await ask({ ada, conversation_id })
    await expect.poll(() => runs, PATIENT).toHaveLength(2)
    await ada.answers.cancel(second.message_id)
    expect(await readSecond()).toMatchObject({ status: 'cancelled', metadata: { mood: 'calm' } })
    await takeOver(service, other, () => runs.length === 3)
    release()
    expect(await untilEnded()).toMatchObject({ status: 'complete', metadata: { mood: 'calm' } })
    // The provider gets the metadata of the question, of which there is none.
    expect(requests.map(({ step, metadata }) => ({ step, metadata }))).toEqual([{ step: 2, metadata: {} }])
  })

  it('is interrupted while the model writes a later step', async () => {
    const never = new Promise<never>(() => {})
    const script: ScriptedOptions['script'] = ({ step }) => (step === 1 ? [call('tool')] : ['Well', never])
    const tool = defineTool({ description: 'Ends', input: ANY, run: () => 1 })
    const { service } = await start({ tools: { tool }, script })
    const { service: other } = await start({ tools: { tool }, script })
    const { read } = await askIn(service)
    await vi.waitUntil(async () => (await read()).content.includes('Well'), PATIENT)
    await takeOver(service, other, async () => (await read()).status === 'interrupted')
    expect((await read()).parts).toMatchObject([{ state: 'done' }, { step: 2 }, { text: 'Well' }])
    const { db } = innerState(other)
    expect(await db.get(sql`SELECT steps, estimated FROM usage_entries`)).toMatchObject({ steps: 2, estimated: 1 })
  })

  it('goes on after a restart, with an approval that came before or comes after it', async () => {
    let paid = 0
    const tool = defineTool({ description: 'Pays', input: ANY, approval: { by: 'asker' }, run: () => ++paid })
    const first = await start({ tools: { tool }, script: twoSteps })
    const { ada, conversation_id, untilWaiting, message_id } = await askIn(first.service)
    await untilWaiting()
    const second = await ask({ ada, conversation_id })
    await second.untilWaiting()
    expect(innerState(first.service).answers.size()).toBe(0)
    await first.service.close()
    services.length = 0

    const { service: restarted } = await start({ tools: { tool }, script: twoSteps })
    const actor = await restarted.chat.users.actor(ada.id)
    const { approvals } = await restarted.chat.approvals.list(actor, { mine: true })
    expect(approvals.map((each) => each.message_id).sort()).toEqual([message_id, second.message_id].sort())
    for (const { call_id } of approvals) await restarted.chat.approvals.decide(actor, call_id, { approve: true })
    await vi.waitUntil(async () => {
      const { status } = await restarted.chat.messages.get(actor, second.message_id)
      return status === 'complete' && (await restarted.chat.messages.get(actor, message_id)).status === 'complete'
    }, PATIENT)
    expect(paid).toBe(2)
  })

  it('of a service that stops: what has not started is left to the next', async () => {
    let opened = () => {}
    const gate = new Promise<void>((resolve) => {
      opened = resolve
    })
    const ran: string[] = []
    const tool = defineTool({
      description: 'Ends',
      input: ANY,
      run: async ({ n }) => {
        ran.push(String(n))
        if (Number(n) < 4) await gate
      },
    })
    const script: ScriptedOptions['script'] = ({ step }) =>
      step === 1 ? [0, 1, 2, 3, 4, 5].map((n) => call('tool', { n })) : ['So it is.']
    const first = await start({ tools: { tool }, script, assistant: { drain_seconds: 30 } })
    const { ada, message_id } = await askIn(first.service)
    await expect.poll(() => ran, PATIENT).toHaveLength(4)
    const closed = first.service.close()
    services.length = 0
    opened()
    await closed
    expect(ran).toHaveLength(4)

    const { service } = await start({ tools: { tool }, script })
    const actor = await service.chat.users.actor(ada.id)
    await vi.waitUntil(async () => (await service.chat.messages.get(actor, message_id)).status === 'complete', PATIENT)
    expect(ran.sort()).toEqual(['0', '1', '2', '3', '4', '5'])
    const { parts } = await service.chat.messages.get(actor, message_id)
    expect(parts!.flatMap((part) => (part.type === 'tool' ? part.state : []))).toEqual(Array(6).fill('done'))
  })
})
