import { ChatError } from '../../core/errors.ts'
import { parseInput } from '../../core/use-case.ts'
import type { McpMethod } from '../call.ts'
import { insufficientScope, invalidParams, RpcError } from '../failures.ts'
import { takeFromLimit } from '../limit.ts'
import { isObject, type Json } from '../protocol.ts'
import { isOffered } from './list.ts'
import { toResult } from './results.ts'
import { TOOLS } from './table.ts'
import { taskHead } from './task-head.ts'
import type { Tool, ToolCall } from './tool.ts'

/** Calls a tool. */
export const callTool: McpMethod = {
  revisions: 'all',
  async prepare(call) {
    const { ctx, actor, revision, scopes } = call
    const { name, arguments: given = {} } = call.request.params
    const tool = typeof name === 'string' && Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined
    if (!tool || !(await isOffered(tool, ctx, actor))) throw invalidParams('There is no such tool.')
    if (!scopes.has(tool.scope)) throw insufficientScope(tool.scope)
    const args = parseArguments(tool, given)
    return {
      ...(tool.waits?.(args) && { streams: 'if_read' as const }),
      run: (stream, signal) => run(name as string, tool, { ctx, actor, revision, stream, signal }, args),
    }
  },
}

/** @throws RpcError with the fields that are wrong */
function parseArguments(tool: Tool, given: unknown): unknown {
  if (!isObject(given)) throw invalidParams('"arguments" must be an object.')
  try {
    return parseInput(tool.args, given)
  } catch (error) {
    if (!(error instanceof ChatError)) throw error
    const errors = error.errors ?? []
    const text = errors.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')
    throw invalidParams(`Wrong arguments: ${text}.`, { errors })
  }
}

async function run(name: string, tool: Tool, call: ToolCall, args: unknown): Promise<Json> {
  const { metrics } = call.ctx
  try {
    await takeFromLimit(call.ctx, call.actor, tool.route(args))
    const result = await tool.run(call, args)
    metrics.mcpCalled(name, call.signal.aborted ? 'cancelled' : 'ok')
    return result.task
      ? { resultType: 'task', ...taskHead(call.ctx, result.task), status: 'working' }
      : toResult(result)
  } catch (error) {
    const isRefused = error instanceof RpcError || (error instanceof ChatError && error.status < 500)
    metrics.mcpCalled(name, isRefused ? 'refused' : 'failed')
    if (error instanceof ChatError && error.code !== 'internal') return toFailedResult(error)
    throw error
  }
}

/** A failure that a model can act on, as text: the value of a result has another form. */
function toFailedResult({ code, message: detail, reason, errors, status, retry_after_seconds }: ChatError): Json {
  const retry_after = retry_after_seconds ?? (status === 503 ? 1 : undefined)
  const failure = {
    code,
    detail,
    ...(reason && { reason }),
    ...(errors && { errors }),
    ...(retry_after !== undefined && { retry_after }),
  }
  return { content: [{ type: 'text', text: JSON.stringify(failure) }], isError: true }
}
