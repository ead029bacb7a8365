import type { ToolError } from '../../chat/answers/schema-parts.ts'
import { type CallRow, listValuesOf } from '../../chat/answers/store-calls.ts'
import { fromStoredValue } from '../../core/stored-value.ts'
import type { HiddenOf } from '../context.ts'
import type { Tool } from '../tools/tool.ts'

/** Finds what readers do not get of earlier calls of these tools: the model knows it. Without such tools, by no statement. */
export function createHiddenOf(tools: readonly Tool[]): HiddenOf {
  const names = tools.flatMap(({ name, show }) => (show === 'all' ? [] : name))
  return async (db, messageIds) => {
    const calls = names.length > 0 ? await listValuesOf(db, messageIds, names) : []
    return new Map(calls.map((call) => [call.id, valuesOf(call)]))
  }
}

/** The input, the output and the failure of a call, whole. */
export function valuesOf({ input, output, error }: Pick<CallRow, 'input' | 'output' | 'error'>): {
  input?: unknown
  output?: unknown
  error?: ToolError
} {
  return {
    ...(input !== null && { input: fromStoredValue(input) }),
    ...(output !== null && { output: fromStoredValue(output) }),
    ...(error !== null && { error: JSON.parse(error) as ToolError }),
  }
}
