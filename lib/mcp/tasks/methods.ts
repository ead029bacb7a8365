import { cancel } from '../../chat/answers/service.ts'
import { Decision } from '../../chat/approvals/schema.ts'
import { decideEach } from '../../chat/approvals/service-each.ts'
import type { McpScope } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { bind, parseInput } from '../../core/use-case.ts'
import type { McpCall, McpMethod } from '../call.ts'
import { insufficientScope, invalidParams } from '../failures.ts'
import { takeFromLimit } from '../limit.ts'
import { isObject, type Json, TASKS } from '../protocol.ts'
import { findAnswer, listDecidable, toTask } from './task.ts'

/** A method for one task. */
function taskMethod(scope: McpScope, run: (call: McpCall, taskId: unknown) => Promise<Json>): McpMethod {
  return {
    revisions: 'modern',
    extension: TASKS,
    prepare(call) {
      if (!call.scopes.has(scope)) throw insufficientScope(scope)
      return { run: () => run(call, call.request.params.taskId).catch(refuseUnknown) }
    },
  }
}

/** A task of which the caller knows nothing, or with which it has nothing to do. @throws RpcError, or the failure as it is */
function refuseUnknown(error: unknown): never {
  const isUnknown = error instanceof ChatError && (error.status === 404 || error.status === 403)
  throw isUnknown ? invalidParams('There is no such task.') : error
}

/** Reads a task. */
export const getTask = taskMethod('chat:read', async (call, taskId) => {
  await takeFromLimit(call.ctx, call.actor, { method: 'GET', path: '/api/messages/{message_id}' })
  return toTask(call, await findAnswer(call, taskId))
})

/** Stops the answer of a task. */
export const cancelTask = taskMethod('chat:ask', async (call, taskId) => {
  const { ctx, actor } = call
  await takeFromLimit(ctx, actor, { method: 'POST', path: '/api/messages/{message_id}/cancel' })
  await bind(ctx, cancel)(actor, (await findAnswer(call, taskId)).id)
  return {}
})

/** Decides on calls of an answer, all or none. Calls that do not wait for the caller are passed over: others may have decided. */
export const updateTask = taskMethod('chat:ask', async (call, taskId) => {
  const { ctx, actor, request } = call
  const { inputResponses } = request.params
  if (!isObject(inputResponses)) throw invalidParams('"inputResponses" must be an object.')
  const answer = await findAnswer(call, taskId)
  const decisions = (await listDecidable(call, answer)).flatMap(({ call_id }) => {
    const decision = Object.hasOwn(inputResponses, call_id) ? toDecision(inputResponses[call_id]) : undefined
    return decision ? [{ call_id, ...decision }] : []
  })
  if (decisions.length === 0) return {}
  for (const _ of decisions) await takeFromLimit(ctx, actor, { method: 'POST', path: '/api/approvals/{call_id}' })
  await bind(ctx, decideEach)(actor, answer.id, { decisions })
  return {}
})

/**
 * What a form says: a user who declines it denies the call, one who dismisses it has not decided.
 *
 * @throws RpcError for a form that was not filled in as it asks
 */
function toDecision(response: unknown): Decision | undefined {
  const { action, content } = isObject(response) ? response : {}
  if (action === 'cancel') return undefined
  if (action === 'decline') return { approve: false }
  if (action !== 'accept') throw invalidParams('"action" must be "accept", "decline" or "cancel".')
  try {
    return parseInput(Decision, content)
  } catch (error) {
    if (error instanceof ChatError)
      throw invalidParams('The form must have "approve": true or false.', { errors: error.errors })
    throw error
  }
}
