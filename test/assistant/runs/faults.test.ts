import * as v from 'valibot'
import { expect, it, vi } from 'vitest'
import { ChatError } from '../../../lib/core/errors.ts'
import { defineTool } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { ageLeases } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, startService, startThread, times } from '../../support/service.ts'
import { ANY, ask, askIn, call, type ScriptedOptions, useServices } from './world.ts'

const PATIENT = { timeout: 30_000 }
const same = defineTool({ description: 'Repeats', input: ANY, run: (input) => input })

describeOnEachDatabase('an answer that calls tools, where something goes wrong', (openUrl) => {
  const { services, start, url } = useServices(openUrl)

  it('starts an idempotent call of a user who has left no more, and does not try for ever', async () => {
    let runs = 0
    const never = new Promise(() => {})
    const tool = defineTool({
      description: 'Hangs',
      input: ANY,
      idempotent: true,
      run: () => {
        runs++
        return never
      },
    })
    const options: ScriptedOptions = {
      tools: { tool },
      script: ({ step }) => (step === 1 ? [call('tool')] : ['Well.']),
    }
    const { service } = await start(options)
    const { service: other } = await start(options)
    const { ada, grace, conversation_id } = await startThread(service)
    const { message_id } = await ask({ ada: grace, conversation_id })
    await expect.poll(() => runs, PATIENT).toBe(1)
    await ada.participants.remove(conversation_id, grace.id)
    const writes = vi.spyOn(innerState(other).db, 'write')
    await vi.waitUntil(async () => {
      await ageLeases(service.chat, 11)
      await innerState(other).answers.renewLeases()
      return (await ada.messages.get(message_id)).status === 'complete'
    }, PATIENT)
    const { parts } = await ada.messages.get(message_id)
    expect(parts![0]).toMatchObject({ state: 'unknown', error: { code: 'asker_left' } })
    expect(runs).toBe(1)
    expect(writes.mock.calls.length).toBeLessThan(500)
  })

  it('stores calls once whose commit was not confirmed', async () => {
    const { service } = await start({
      tools: { same },
      script: ({ step }) => (step === 1 ? [call('same', { n: 1 }), call('same', { n: 2 })] : ['Well.']),
    })
    const { db } = innerState(service)
    const write = db.write.bind(db)
    let isBroken = false
    vi.spyOn(db, 'write').mockImplementation(async (work, options) => {
      const result = await write(work, options)
      if (!isBroken && (await db.get(sql`SELECT 1 AS found FROM tool_calls`))) {
        isBroken = true
        throw new ChatError('unavailable')
      }
      return result
    })
    const { untilEnded } = await askIn(service)
    const { parts, status } = await untilEnded()
    expect(isBroken).toBe(true)
    expect([status, parts!.map(({ id, type }) => [id, type])]).toEqual([
      'complete',
      [
        [0, 'tool'],
        [1, 'tool'],
        [expect.any(Number), 'step'],
        [expect.any(Number), 'text'],
      ],
    ])
    expect(parts!.slice(0, 2)).toMatchObject([
      { state: 'done', name: 'same' },
      { state: 'done', name: 'same' },
    ])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('ends at the second repeated call, although others could start or be asked about', async () => {
    let paid = 0
    const pay = defineTool({ description: 'Pays', input: ANY, approval: { by: 'asker' }, run: () => ++paid })
    const more = defineTool({ description: 'Runs', input: ANY, run: () => ++paid })
    const { service } = await start({
      tools: { same, pay, more },
      assistant: { max_equal_calls: 1 },
      script: ({ step }) => (step === 1 ? [call('same')] : [call('same'), call('same'), call('pay'), call('more')]),
    })
    const { untilEnded, calls } = await askIn(service)
    expect(await untilEnded()).toMatchObject({ status: 'failed', failure: 'too_many_steps' })
    expect((await calls()).map(({ error, state }) => error?.code ?? state)).toEqual([
      'done',
      'repeated',
      'repeated',
      'cancelled',
      'cancelled',
    ])
    expect(paid).toBe(0)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('shows readers nothing of an input that they do not get, also if it is not valid', async () => {
    const secret = defineTool({
      description: 'Takes a secret',
      input: v.object({ pin: v.pipe(v.string(), v.email()) }),
      show: 'name',
      run: () => 1,
    })
    const { service, requests } = await start({
      tools: { secret },
      script: ({ step }) => (step === 1 ? [call('secret', { pin: 'hunter2' })] : ['Well.']),
    })
    const { untilEnded, ada, message_id } = await askIn(service)
    const { parts } = await untilEnded()
    expect(parts![0]).toMatchObject({ state: 'failed', error: { code: 'invalid_input' } })
    expect(JSON.stringify([parts, await ada.answers.listChunks(message_id)])).not.toContain('hunter2')
    expect(JSON.stringify(requests[1]!.so_far)).toMatch(/hunter2.*pin|pin.*hunter2/)
  })

  it('asks about an equal call once the outcome of one is unknown, also if it was to start already', async () => {
    let runs = 0
    const slow = defineTool({
      description: 'Hangs',
      input: ANY,
      timeout_seconds: 1,
      run: (_, { signal }) => {
        runs++
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    const { service } = await start({
      tools: { slow },
      assistant: { max_equal_calls: 9 },
      // The fifth waits for its turn.
      script: ({ step }) =>
        step === 1 ? [...times(4, (n) => call('slow', { n })), call('slow', { n: 0 })] : ['Well.'],
    })
    const { untilWaiting, calls } = await askIn(service)
    await untilWaiting()
    expect((await calls()).map(({ state }) => state)).toEqual([...Array(4).fill('unknown'), 'waiting'])
    expect(runs).toBe(4)
  })

  it('counts for quotas while it waits', async () => {
    const pay = defineTool({ description: 'Pays', input: ANY, approval: { by: 'asker' }, run: () => 1 })
    const service = await startService(url(), {
      config: {
        assistant: { tools: ['pay'] },
        usage: { quotas: [{ role: '*', period: 'day', answers: 2 }], reserve_tokens: 10 },
      },
      ports: {
        tools: { pay },
        assistant: async function* ({ step }) {
          yield step === 1 ? call('pay') : 'Well.'
        },
      },
    })
    services.push(service)
    const world = await askIn(service)
    await world.untilWaiting()
    const second = await ask(world)
    await second.untilWaiting()
    expect(await codeOf(ask(world))).toBe('rate_limited')
    const [{ call_id }] = (await world.ada.approvals.list({ mine: true })).approvals as unknown as [{ call_id: string }]
    // Going on is not refused.
    await world.ada.approvals.decide(call_id, { approve: true })
    await second.untilEnded()
    expect(await codeOf(ask(world))).toBe('rate_limited')
  })

  it('runs no call of the last step, whichever process ends it', async () => {
    let runs = 0
    const tool = defineTool({ description: 'Counts', input: ANY, run: () => ++runs })
    const script: ScriptedOptions['script'] = () => [call('tool', {})]
    const options = { tools: { tool }, script, assistant: { max_steps: 1 } }
    const { service } = await start(options)
    const { db } = innerState(service)
    const write = db.write.bind(db)
    let isDead = false
    vi.spyOn(db, 'write').mockImplementation(async (work, given) => {
      if (isDead) throw new ChatError('unavailable')
      const result = await write(work, given)
      if (await db.get(sql`SELECT 1 AS found FROM tool_calls`)) isDead = true
      return result
    })
    const { read } = await askIn(service)
    await expect.poll(() => isDead, PATIENT).toBe(true)
    const { service: other } = await start(options)
    await vi.waitUntil(async () => {
      await ageLeases(other.chat, 11)
      await innerState(other).answers.renewLeases()
      return (await read()).status === 'failed'
    }, PATIENT)
    expect(await read()).toMatchObject({ failure: 'too_many_steps' })
    expect(runs).toBe(0)
  })

  it('ends where no assistant is left', async () => {
    const pay = defineTool({ description: 'Pays', input: ANY, approval: { by: 'asker' }, run: () => 1 })
    const { service } = await start({ tools: { pay }, script: () => [call('pay')] })
    const { untilWaiting, ada, message_id } = await askIn(service)
    await untilWaiting()
    await service.close()
    services.length = 0
    const without = await startService(url(), {
      config: { assistant: { provider: 'none', tools: ['pay'] } },
      ports: { tools: { pay } },
    })
    services.push(without)
    const actor = await without.chat.users.actor(ada.id)
    const { approvals } = await without.chat.approvals.list(actor, { mine: true })
    await without.chat.approvals.decide(actor, approvals[0]!.call_id, { approve: true })
    await vi.waitUntil(
      async () => (await without.chat.messages.get(actor, message_id)).status === 'interrupted',
      PATIENT,
    )
  })
})
