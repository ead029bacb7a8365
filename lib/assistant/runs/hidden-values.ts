import { listValuesOf } from '../../chat/answers/store-calls.ts'
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

/** The input and the output of a call, whole. */
export function valuesOf({ input, output }: { input: string | null; output: string | null }): {
  input?: unknown
  output?: unknown
} {
  return {
    ...(input !== null && { input: fromStoredValue(input) }),
    ...(output !== null && { output: fromStoredValue(output) }),
  }
}
