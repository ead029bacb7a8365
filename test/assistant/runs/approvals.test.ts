import { beforeEach, expect, it, vi } from 'vitest'
import type { ParticipantRole } from '../../../lib/core/access.ts'
import { type ApprovalOptions, defineTool, OPERATOR } from '../../../lib/index.ts'
import { exportConversation } from '../../../lib/storage/archive/conversation-export.ts'
import { stopCopiedAnswers } from '../../../lib/storage/copied-answers.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, times } from '../../support/service.ts'
import { ANY, ask, askIn, call, type ScriptedOptions, useServices } from './world.ts'

const twoSteps: ScriptedOptions['script'] = ({ step }) => (step === 1 ? [call('pay', { amount: 5 })] : ['Well.'])

describeOnEachDatabase('a call that waits for a decision', (openUrl) => {
  const { start } = useServices(openUrl)
  let paid = 0
  beforeEach(() => {
    paid = 0
  })

  /** Ada has asked, and a call waits. */
  async function waiting(approval: ApprovalOptions, options: Partial<ScriptedOptions> & { show?: 'name' } = {}) {
    const { show, ...rest } = options
    const pay = defineTool({ description: 'Pays', input: ANY, approval, run: () => ++paid, ...(show && { show }) })
    const { service, requests } = await start({ tools: { pay }, script: twoSteps, ...rest })
    const world = await askIn(service)
    await world.untilWaiting()
    const [{ call_id }] = (await world.ada.approvals.list({})).approvals as unknown as [{ call_id: string }]
    return { ...world, service, requests, call_id }
  }

  it('runs once it is approved, and the answer goes on', async () => {
    const { ada, call_id, message_id, conversation_id, untilEnded, calls, service } = await waiting({ by: 'asker' })
    expect(paid).toBe(0)
    // Nobody may still decide on those.
    expect((await ada.approvals.list({ mine: true, state: 'approved' })).approvals).toEqual([])
    expect((await ada.approvals.list({ mine: true, state: 'waiting' })).approvals).toMatchObject([{ call_id }])
    expect((await ada.approvals.list({ mine: true })).approvals).toMatchObject([
      {
        call_id,
        ...{ state: 'waiting', message_id, conversation_id, by: 'asker', quorum: 1, votes: [], may_decide: true },
        tool: { name: 'pay', title: 'pay' },
        input: { amount: 5 },
        requested_by: ada.id,
      },
    ])
    const { approval } = await ada.approvals.decide(call_id, { approve: true, reason: 'Fine' })
    expect(approval).toMatchObject({ state: 'approved', votes: [{ user_id: ada.id, approve: true, reason: 'Fine' }] })
    expect(await untilEnded()).toMatchObject({ status: 'complete', content: 'Well.' })
    expect(await calls()).toMatchObject([{ state: 'done', output: 1 }])
    expect(paid).toBe(1)
    expect((await ada.approvals.get(call_id)).state).toBe('approved')
    // Her erasure goes on: what she wrote is in no answer from its begin on.
    const { db } = innerState(service)
    const actor = await service.chat.users.actor(ada.id)
    await db.write((tx) =>
      tx.run(sql`INSERT INTO erased_authors (user_id, messages, erased_at) VALUES (${ada.id}, 'keep', 1)`),
    )
    const { votes } = await service.chat.approvals.get(actor, call_id)
    expect(votes).toEqual([{ approve: true, at: expect.any(String) }])
    await db.write((tx) => tx.run(sql`DELETE FROM erased_authors`))
    expect((await ada.approvals.list({ mine: true })).approvals).toEqual([])
    expect((await ada.approvals.list({ state: 'approved' })).approvals).toMatchObject([{ call_id }])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('does not run once it is denied, and the model is told', async () => {
    const { ada, call_id, untilEnded, calls, requests } = await waiting({ by: 'asker' })
    await ada.approvals.decide(call_id, { approve: false })
    expect((await untilEnded()).status).toBe('complete')
    expect(await calls()).toMatchObject([{ state: 'denied' }])
    expect(requests[1]!.so_far).toMatchObject([{ state: 'denied' }])
    expect(paid).toBe(0)
  })

  it('expires', async () => {
    const { call_id, untilEnded, calls, ada, service } = await waiting({ by: 'asker', expires_seconds: 60 })
    await innerState(service).tasks.settle()
    expect((await untilEnded()).status).toBe('complete')
    expect(await calls()).toMatchObject([{ state: 'expired' }])
    expect(await codeOf(ada.approvals.decide(call_id, { approve: true }))).toBe('conflict')
    expect(paid).toBe(0)
  })

  it('holds no process, lease or place meanwhile, for as long as it takes', async () => {
    const settings = { max_running: 1, max_running_per_user: 1 }
    const { ada, service, conversation_id, call_id, read } = await waiting({ by: 'asker' }, { assistant: settings })
    const { answers, db } = innerState(service)
    expect(answers.size()).toBe(0)
    expect(await db.all(sql`SELECT * FROM answers_under_way`)).toEqual([])
    expect((await read()).status).toBe('waiting')
    // There is room for another question.
    const { untilWaiting } = await ask({ ada, conversation_id })
    await untilWaiting()
    await ada.approvals.decide(call_id, { approve: true })
    await vi.waitUntil(async () => (await read()).status === 'complete', { timeout: 30_000 })
  })

  it('refuses what a message that is written refuses', async () => {
    const { ada, message_id, conversation_id } = await waiting({ by: 'asker' })
    expect(await codeOf(ada.messages.edit(message_id, { content: 'x' }))).toMatch(/forbidden|message_streaming/)
    const { threads } = await ada.threads.list(conversation_id)
    expect(threads.length).toBeGreaterThan(0)
  })

  const deciders: [ApprovalOptions, ParticipantRole, boolean, boolean][] = [
    [{ by: 'asker' }, 'member', false, false],
    [{ by: 'asker' }, 'admin', false, true],
    [{ by: 'admins' }, 'member', false, false],
    [{ by: 'admins' }, 'admin', true, true],
    [{ by: 'members' }, 'member', true, true],
    [{ by: 'members' }, 'viewer', false, false],
  ]
  it.each(deciders)('with %j: a %s may approve %s, deny %s', async (rule, role, mayApprove, mayDeny) => {
    const { ada, grace, eve, call_id, conversation_id } = await waiting(rule)
    await ada.participants.changeRole(conversation_id, grace.id, { role })
    expect((await grace.approvals.get(call_id)).may_decide).toBe(mayApprove || mayDeny)
    expect((await grace.approvals.list({ mine: true })).approvals).toHaveLength(mayApprove || mayDeny ? 1 : 0)
    expect(await codeOf(eve.approvals.get(call_id))).toBe('not_found')
    expect(await codeOf(eve.approvals.decide(call_id, { approve: true }))).toBe('not_found')
    const approve = grace.approvals.decide(call_id, { approve: true })
    if (mayApprove) expect((await approve).approval.state).toBe('approved')
    else {
      expect(await codeOf(approve)).toBe('forbidden')
      const deny = grace.approvals.decide(call_id, { approve: false })
      if (mayDeny) expect((await deny).approval.state).toBe('denied')
      else expect(await codeOf(deny)).toBe('forbidden')
    }
  })

  it('counts the votes of those who may decide now', async () => {
    const { ada, grace, eve, call_id, conversation_id, read } = await waiting({
      by: 'members',
      quorum: 2,
      not_asker: true,
    })
    await ada.participants.add(conversation_id, { user_id: eve.id })
    expect(await codeOf(ada.approvals.decide(call_id, { approve: true }))).toBe('forbidden')
    expect((await grace.approvals.decide(call_id, { approve: true })).approval.state).toBe('waiting')
    // The same again changes nothing.
    expect((await grace.approvals.decide(call_id, { approve: true })).approval.votes).toHaveLength(1)
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'viewer' })
    expect((await eve.approvals.decide(call_id, { approve: true })).approval.state).toBe('waiting')
    expect((await read()).status).toBe('waiting')
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'member' })
    await grace.approvals.decide(call_id, { approve: false })
    expect((await ada.approvals.get(call_id)).state).toBe('denied')
    expect(await codeOf(eve.approvals.decide(call_id, { approve: false }))).toBe('conflict')
    expect((await eve.approvals.decide(call_id, { approve: true })).approval.state).toBe('denied')
  })

  it('is decided by keys only where the tool says so, and by no bot', async () => {
    const { ada, call_id, service } = await waiting({ by: 'asker' })
    const { key } = await ada.keys.create({ name: 'a key', current_password: 'correct horse battery' } as never)
    const decide = (id: string) =>
      fetch(`${service.base_url}/api/approvals/${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"approve":true}',
      })
    const refused = await decide(call_id)
    expect([refused.status, (await refused.json()).reason]).toEqual([403, 'key'])
    // A newer client may send more.
    const decided = await ada.approvals.decide(call_id, { approve: true, later: 1 } as never)
    expect(decided.approval.state).toBe('approved')
  })

  it('is decided once by fifty at once, on two nodes', async () => {
    const { ada, grace, call_id, service, untilEnded } = await waiting({ by: 'members' })
    const pay = defineTool({ description: 'Pays', input: ANY, approval: { by: 'members' }, run: () => ++paid })
    const { service: other } = await start({ tools: { pay }, script: twoSteps })
    const actors = [await service.chat.users.actor(ada.id), await service.chat.users.actor(grace.id)]
    const outcomes = await Promise.all(
      times(50, (n) =>
        [service, other][n % 2]!.chat.approvals.decide(actors[(n >> 1) % 2]!, call_id, { approve: n % 4 < 2 }).then(
          () => 'decided',
          (error) => error.code as string,
        ),
      ),
    )
    expect(new Set(outcomes).size).toBe(2)
    expect(outcomes.filter((each) => each !== 'decided').every((each) => each === 'conflict')).toBe(true)
    await untilEnded()
    expect(paid).toBeLessThanOrEqual(1)
    const { state } = await ada.approvals.get(call_id)
    expect(paid).toBe(state === 'approved' ? 1 : 0)
  }, 30_000)

  it('is cancelled with the question, with the answer, and with the account of the user who asked', async () => {
    const { ada, grace, conversation_id, call_id, message_id, service } = await waiting({ by: 'members' })
    await ada.messages.remove(message_id)
    expect(await codeOf(ada.approvals.get(call_id))).toBe('not_found')
    const { message_id: asked, answers } = await ada.messages.postRoot(conversation_id, {
      content: 'Please',
      mentions: { assistants: ['assistant'] },
    })
    const answer = answers![0]!.id
    await vi.waitUntil(async () => (await ada.messages.get(answer)).status === 'waiting', { timeout: 30_000 })
    await ada.messages.remove(asked)
    expect((await ada.messages.get(answer)).status).toBe('cancelled')
    const byGrace = await ask({ ada: grace, conversation_id })
    await byGrace.untilWaiting()
    await service.chat.users.erase(await service.chat.users.actor(ada.id), grace.id, { messages: 'keep' })
    await service.chat.idle({ timeout_ms: 20_000 })
    expect((await ada.messages.get(byGrace.message_id)).status).toBe('cancelled')
    const { approvals } = await ada.approvals.list({ conversation_id })
    expect(approvals.map(({ state }) => state)).toEqual(['cancelled', 'cancelled'])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('shows an input that readers do not get to those who may decide', async () => {
    const { ada, grace, call_id, calls } = await waiting({ by: 'asker' }, { show: 'name' })
    expect((await ada.approvals.get(call_id)).input).toEqual({ amount: 5 })
    expect((await grace.approvals.get(call_id)).input).toBeUndefined()
    expect((await calls())[0]!.input).toBeUndefined()
  })

  it('is denied if too many wait already', async () => {
    const many = ({ step }: { step: number }) => (step === 1 ? times(12, (n) => call('pay', { n })) : ['Well.'])
    const { ada, conversation_id, calls } = await waiting({ by: 'asker' }, { script: many })
    expect((await calls()).every(({ state }) => state === 'waiting')).toBe(true)
    const second = await ask({ ada, conversation_id })
    await second.untilWaiting()
    const states = (await second.calls()).map(({ state, error }) => error?.code ?? state)
    expect(states).toEqual([...Array(8).fill('waiting'), ...Array(4).fill('limit')])
  })

  it('starts an approved call while others wait, and several of one answer are decided together', async () => {
    const three = ({ step }: { step: number }) => (step === 1 ? times(3, (n) => call('pay', { n })) : ['Well.'])
    const { ada, service, calls, untilEnded, conversation_id } = await waiting({ by: 'asker' }, { script: three })
    const { approvals } = await ada.approvals.list({ conversation_id })
    const actor = await service.chat.users.actor(ada.id)
    const [one, ...rest] = approvals.map(({ call_id }) => call_id).reverse()
    await ada.approvals.decide(one!, { approve: true })
    await vi.waitUntil(async () => (await calls())[0]!.state === 'done', { timeout: 30_000 })
    expect((await calls()).map(({ state }) => state)).toEqual(['done', 'waiting', 'waiting'])
    await service.chat.approvals.decide(actor, rest, { approve: false })
    expect((await untilEnded()).status).toBe('complete')
    expect((await calls()).map(({ state }) => state)).toEqual(['done', 'denied', 'denied'])
  })

  it('is not decided together with calls of other answers, nor told whether there are some', async () => {
    const { ada, grace, service, call_id, conversation_id } = await waiting({ by: 'asker' })
    const second = await ask({ ada, conversation_id })
    await second.untilWaiting()
    const own = await grace.conversations.create({ title: 'Alone' })
    const hers = await ask({ ada: grace, conversation_id: own.conversation_id })
    await hers.untilWaiting()
    const idsOf = async (person: typeof ada) =>
      (await person.approvals.list({ mine: true })).approvals.map((each) => each.call_id)
    const actor = await service.chat.users.actor(ada.id)
    const decide = (ids: string[]) => codeOf(service.chat.approvals.decide(actor, ids, { approve: true }))
    expect(await decide(await idsOf(ada))).toBe('conflict')
    const [foreign] = await idsOf(grace)
    expect(await decide([call_id, foreign!])).toBe('not_found')
    expect(await decide([call_id, call_id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))])).toBe('not_found')
    expect(paid).toBe(0)
  })

  it('tells the streams of each vote and of the outcome, and a replay what there is', async () => {
    const { ada, grace, call_id, service, conversation_id, untilEnded } = await waiting({ by: 'members', quorum: 2 })
    const actor = await service.chat.users.actor(ada.id)
    const { stream_position } = await ada.conversations.get(conversation_id)
    const seen: [string, number][] = []
    const following = (async () => {
      const options = { last_event_id: stream_position! }
      for await (const { event } of service.chat.events.follow(actor, conversation_id, options)) {
        if (event.type === 'approval.changed')
          seen.push([event.payload.approval.state, event.payload.approval.votes.length])
        if (event.type === 'message.done') return
      }
    })()
    await grace.approvals.decide(call_id, { approve: true })
    await ada.approvals.decide(call_id, { approve: true })
    await untilEnded()
    await following
    expect(seen.at(-1)).toEqual(['approved', 2])
    expect(seen).toHaveLength(2)
  })

  it('is exported with its conversation as it would end now', async () => {
    const { service, conversation_id, message_id } = await waiting({ by: 'asker' })
    const lines: string[] = []
    await exportConversation(innerState(service).db, conversation_id, (some) => {
      lines.push(...some.trimEnd().split('\n'))
    })
    const rows = lines
      .map((line) => JSON.parse(line))
      .filter(({ table, row }) => table === 'messages' && row.id === message_id)
    expect(rows).toMatchObject([{ row: { status: 'interrupted', content: '' } }])
    expect(JSON.parse(rows[0].row.parts)).toMatchObject([{ type: 'tool', name: 'pay', state: 'cancelled' }])
  })

  it('acts in no copy of a database', async () => {
    const usage = { prompt_tokens: 700, completion_tokens: 50, total_tokens: 750 }
    const script: ScriptedOptions['script'] = () => [call('pay'), { usage }]
    const { service, read, call_id, ada, calls } = await waiting({ by: 'asker' }, { script })
    const { write, answers } = innerState(service)
    expect(await write((tx) => stopCopiedAnswers(tx))).toEqual({ answers: 1, approvals: 1 })
    expect(await codeOf(ada.approvals.decide(call_id, { approve: true }))).toBe('conflict')
    await answers.renewLeases()
    expect((await read()).status).toBe('interrupted')
    expect(await calls()).toMatchObject([{ state: 'expired' }])
    expect((await ada.approvals.get(call_id)).state).toBe('expired')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    expect(paid).toBe(0)
    // What the model has used before the copy was made counts.
    const { rows } = await service.chat.usage.report(OPERATOR, { by: 'assistant' })
    expect(rows).toMatchObject([{ answers: 1, prompt_tokens: 700, completion_tokens: 50 }])
  })
})
