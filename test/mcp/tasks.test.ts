import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { ApprovalOptions } from '../../lib/index.ts'
import { defineTool } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { ANY, askIn, call, useServices } from '../assistant/runs/world.ts'
import { createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { describeService } from '../support/describe-service.ts'
import { callMcp, type McpOptions, type Rpc, readRpc, sendMcp } from '../support/mcp.ts'
import { innerState, startService, startThread, type TestService, times } from '../support/service.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
const WITH_TASKS = { extensions: { [TASKS]: {} } }
const WITH_FORMS = { ...WITH_TASKS, elicitation: { form: {} } }

/** Calls one method of a task, with these capabilities. */
function taskCalls(service: Pick<TestService, 'base_url'>) {
  return async (method: string, taskId: unknown, options: McpOptions, params: object = {}): Promise<Rpc> => {
    const { result, error } = await callMcp(
      service,
      `tasks/${method}`,
      { taskId, ...params },
      { capabilities: WITH_TASKS, ...options },
    )
    return result ?? error
  }
}

/** A stream of the changes of tasks. */
async function listen(service: Pick<TestService, 'base_url'>, taskIds: string[], options: McpOptions) {
  const closing = new AbortController()
  onTestFinished(() => closing.abort())
  const params = { notifications: { taskIds } }
  const messages = readRpc(
    await sendMcp(service, 'subscriptions/listen', params, {
      capabilities: WITH_TASKS,
      signal: closing.signal,
      ...options,
    }),
  )
  const next = async (): Promise<Rpc> => (await messages.next()).value
  expect((await next()).method).toBe('notifications/subscriptions/acknowledged')
  return next
}

describe('an answer as a task of MCP', () => {
  const puppet = createPuppet()
  describeService(
    'in progress',
    (url) => startService(url, { ports: { assistant: puppet.assistant } }),
    (service) => {
      const task = taskCalls(service)

      async function begin(options: McpOptions = { capabilities: WITH_TASKS }) {
        const here = await startThread(service)
        const { key } = await here.grace.keys.create({ name: 'agent' })
        const args = {
          name: 'ask_assistant',
          arguments: { parent_id: here.root.message_id, content: 'why?', seconds: 0 },
        }
        const { result } = await callMcp(service, 'tools/call', args, { key, ...options })
        return { ...here, key, result, answer: await puppet.asked() }
      }

      it('is made where the client declares it and the answer has not ended, and is read until it has', async () => {
        const { key, result, answer, conversation_id, root, grace } = await begin()
        const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
        const HEAD = {
          taskId: result.taskId,
          createdAt: INSTANT,
          lastUpdatedAt: INSTANT,
          ttlMs: null,
          pollIntervalMs: 1000,
        }
        expect(result).toMatchObject({ resultType: 'task', status: 'working', ...HEAD })
        expect(await task('get', result.taskId, { key })).toMatchObject({
          resultType: 'complete',
          status: 'working',
          ...HEAD,
        })
        const next = await listen(service, [result.taskId, conversation_id], { key })
        answer.say('because')
        answer.end()
        const { params } = await next()
        expect(params._meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 1 })
        const { resultType: _, _meta: __, ...read } = await task('get', result.taskId, { key })
        const { _meta: ___, ...sent } = params
        expect(sent).toEqual(read)
        expect(read).toMatchObject({
          status: 'completed',
          ...HEAD,
          result: { structuredContent: { status: 'complete', content: 'because', root_id: root.root_id } },
        })
        expect((await grace.messages.get(result.taskId)).content).toBe('because')
      })

      it('is none for a client that does not declare it, nor in the older revisions, nor of an answer that has ended', async () => {
        const plain = await begin({})
        expect(plain.result).toMatchObject({ resultType: 'complete', structuredContent: { status: 'streaming' } })
        plain.answer.end()
        const legacy = await begin({ legacy: '2025-11-25' })
        expect(legacy.result).toMatchObject({ structuredContent: { status: 'streaming' } })
        legacy.answer.end()
        const { key, root } = plain
        const args = { name: 'ask_assistant', arguments: { parent_id: root.message_id, content: 'why?', seconds: 55 } }
        const asking = callMcp(service, 'tools/call', args, { key, capabilities: WITH_TASKS })
        ;(await puppet.asked()).end()
        expect((await asking).result).toMatchObject({ resultType: 'complete' })
      })

      it('fails as a result, not as an error of the protocol', async () => {
        const { key, result, answer } = await begin()
        answer.fail(new Error('broken'))
        await vi.waitUntil(async () => (await task('get', result.taskId, { key })).status !== 'working', {
          timeout: 30_000,
        })
        const { status, result: failed } = await task('get', result.taskId, { key })
        expect([status, failed.isError, failed.structuredContent]).toMatchObject([
          'completed',
          true,
          { failure: 'provider_error' },
        ])
      })

      it('is cancelled by its user, and by nobody who may not', async () => {
        const { key, result, answer, eve, ada, conversation_id } = await begin()
        const outsider = (await eve.keys.create({ name: 'agent' })).key
        expect(await task('cancel', result.taskId, { key: outsider })).toMatchObject({ code: -32602 })
        await ada.participants.add(conversation_id, { user_id: eve.id })
        expect(await task('cancel', result.taskId, { key: outsider })).toMatchObject({ code: -32602 })
        expect(await task('get', result.taskId, { key: outsider })).toMatchObject({ status: 'working' })
        const { _meta, ...empty } = await task('cancel', result.taskId, { key })
        expect(empty).toEqual({ resultType: 'complete' })
        await answer.aborted
        expect(await task('get', result.taskId, { key })).toMatchObject({ status: 'cancelled' })
      })

      it('is unknown where it is not an answer that the caller reads', async () => {
        const { key, result, answer, root, eve } = await begin()
        const outsider = (await eve.keys.create({ name: 'agent' })).key
        for (const method of ['get', 'update', 'cancel']) {
          const params = { inputResponses: {} }
          expect(await task(method, result.taskId, { key: outsider }, params)).toMatchObject({ code: -32602 })
          for (const id of [root.message_id, '01980a3c-9000-7a10-8b20-0c4f1d2e3a45', 'nonsense'])
            expect(await task(method, id, { key }, params)).toMatchObject({ code: -32602 })
        }
        const response = await sendMcp(service, 'tasks/get', { taskId: 'nonsense' }, { key, capabilities: WITH_TASKS })
        expect(response.status).toBe(200)
        answer.end()
      })

      it('needs the extension, which each request declares', async () => {
        const { key, result, answer } = await begin()
        for (const method of ['get', 'update', 'cancel']) {
          const response = await sendMcp(service, `tasks/${method}`, { taskId: result.taskId }, { key })
          const { error } = await response.json()
          expect([response.status, error]).toMatchObject([
            400,
            { code: -32021, data: { requiredCapabilities: WITH_TASKS } },
          ])
        }
        expect(
          (await callMcp(service, 'tasks/get', { taskId: result.taskId }, { key, legacy: '2025-11-25' })).error.code,
        ).toBe(-32601)
        answer.end()
      })
    },
  )
})

describeOnEachDatabase('a task that waits for an approval', (openUrl) => {
  const { start } = useServices(openUrl)

  async function waiting(approval: ApprovalOptions, count = 1) {
    let paid = 0
    const pay = defineTool({ description: 'Pays', input: ANY, approval, run: () => ++paid })
    const { service } = await start({
      tools: { pay },
      script: ({ step }) => (step === 1 ? times(count, () => call('pay', { amount: 5 })) : ['Well.']),
    })
    const world = await askIn(service)
    await world.untilWaiting()
    const [approvalOfCall] = (await world.ada.approvals.list({})).approvals
    const { key } = await world.ada.keys.create({ name: 'agent' })
    return { ...world, service, key, call_id: approvalOfCall!.call_id, task: taskCalls(service), paid: () => paid }
  }

  it('asks the user by a form, where keys may decide and the client has forms, and goes on with the decision', async () => {
    const { task, key, message_id, call_id, paid, untilEnded, service } = await waiting({ by: 'asker', keys: true })
    const asked = await task('get', message_id, { key, capabilities: WITH_FORMS })
    expect(asked).toMatchObject({
      status: 'input_required',
      inputRequests: {
        [call_id]: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: expect.stringContaining('"amount":5'),
            requestedSchema: { required: ['approve'] },
          },
        },
      },
    })
    const next = await listen(service, [message_id], { key, capabilities: WITH_FORMS })
    expect(await task('get', message_id, { key })).toMatchObject({
      status: 'working',
      statusMessage: expect.any(String),
    })
    const update = (inputResponses: object) =>
      task('update', message_id, { key, capabilities: WITH_FORMS }, { inputResponses })
    expect(await update({ unknown: { action: 'accept', content: { approve: true } } })).toMatchObject({
      resultType: 'complete',
    })
    expect(await update({ [call_id]: { action: 'cancel' } })).toMatchObject({ resultType: 'complete' })
    expect(await update({ [call_id]: { action: 'accept', content: { approve: 'yes' } } })).toMatchObject({
      code: -32602,
    })
    expect(await update({ [call_id]: { action: 'accept' } })).toMatchObject({ code: -32602 })
    expect(await task('update', message_id, { key }, {})).toMatchObject({ code: -32602 })
    expect(paid()).toBe(0)
    expect(await update({ [call_id]: { action: 'accept', content: { approve: true, reason: 'ok' } } })).toMatchObject({
      resultType: 'complete',
    })
    expect((await untilEnded()).status).toBe('complete')
    expect(paid()).toBe(1)
    for (let message = await next(); message.params.status !== 'completed'; ) message = await next()
    expect(await update({ [call_id]: { action: 'decline' } })).toMatchObject({ resultType: 'complete' })
  })

  it('is denied by a form that is declined', async () => {
    const { task, key, message_id, call_id, paid, untilEnded, calls } = await waiting({ by: 'asker', keys: true })
    const params = { inputResponses: { [call_id]: { action: 'decline' } } }
    await task('update', message_id, { key, capabilities: { ...WITH_TASKS, elicitation: {} } }, params)
    expect((await untilEnded()).status).toBe('complete')
    expect(await calls()).toMatchObject([{ state: 'denied' }])
    expect(paid()).toBe(0)
  })

  it('is decided as a whole, or not at all: in one transaction, once the limits allow all of it', async () => {
    const world = await waiting({ by: 'asker', keys: true }, 2)
    const { task, key, message_id, untilEnded, ada, service } = world
    const ids = (await ada.approvals.list({})).approvals.map(({ call_id }) => call_id)
    expect(ids).toHaveLength(2)
    const inputResponses = {
      [ids[0]!]: { action: 'decline' },
      [ids[1]!]: { action: 'accept', content: { approve: true } },
    }
    const update = () => task('update', message_id, { key, capabilities: WITH_FORMS }, { inputResponses })
    const { id } = await ada.limits.createProfile({ name: 'slow', params: { requests_per_second: 0.001, burst: 1 } })
    const route = { method: 'POST', path: '/api/approvals/{call_id}' } as const
    const assigned = await ada.limits.createAssignment({ profile_id: id, ...route })
    expect(await update()).toMatchObject({ code: 429 })
    const states = async () => (await ada.approvals.list({})).approvals.map(({ state }) => state)
    expect(await states()).toEqual(['waiting', 'waiting'])
    await ada.limits.deleteAssignment(assigned.id)
    expect(await update()).toMatchObject({ resultType: 'complete' })
    expect((await untilEnded()).status).toBe('complete')
    expect(await states()).toEqual(['denied', 'approved'])
    const instants = await innerState(service.chat).db.all(sql`SELECT DISTINCT at FROM approval_votes`)
    expect(instants).toHaveLength(1)
  })

  it('is decided by no agent where keys may not decide, whatever its caller is', async () => {
    const { task, key, message_id, call_id, ada, service } = await waiting({ by: 'asker' })
    const { token } = await ada.tokens.issue({ scopes: ['write'] })
    for (const bearer of [key, token]) {
      const options = { key: bearer, capabilities: WITH_FORMS }
      expect(await task('get', message_id, options)).toMatchObject({ status: 'working' })
      await task('update', message_id, options, {
        inputResponses: { [call_id]: { action: 'accept', content: { approve: true } } },
      })
      expect(await task('get', message_id, options)).toMatchObject({ status: 'working' })
    }
    expect((await ada.approvals.get(call_id)).state).toBe('waiting')
    expect(
      await task('get', message_id, { key, capabilities: { ...WITH_TASKS, elicitation: { url: {} } } }),
    ).toMatchObject({ status: 'working' })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
