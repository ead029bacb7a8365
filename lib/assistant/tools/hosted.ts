import { readApproval } from '../../config/approval.ts'
import { isToolName } from '../../config/tools.ts'
import { type DefinedTool, isToolResult, type ToolDefinition } from './definition.ts'
import { readInput } from './input.ts'
import type { Tool } from './tool.ts'

/**
 * A tool that a host defines.
 *
 * @throws TypeError for a name, or an input, that no tool can have
 */
export function toTool(name: string, defined: DefinedTool): Tool {
  const where = `createChatService: "tools.${name}"`
  if (!isToolName(name)) throw new TypeError(`${where} must have a name such as "refund" or "find-orders"`)
  // Each function gets what the schema of its own definition returns.
  const definition = defined?.['~definition'] as ToolDefinition<unknown> | undefined
  if (!definition) throw new TypeError(`${where} must be made by defineTool`)
  const { description, title = name, approval, idempotent = false, timeout_seconds = 30, show = 'all' } = definition
  const rule = approval === undefined || typeof approval === 'function' ? undefined : readApproval(approval)
  return {
    ...{ name, title, description, idempotent, timeout_seconds, show },
    ...readInput(where, definition.input),
    fixedApproval: rule,
    async approval(input) {
      if (typeof approval !== 'function') return rule
      const result = await approval(input)
      return result === false ? undefined : readApproval(result)
    },
    async run(input, call) {
      const result = await definition.run(input, call)
      if (isToolResult(result)) return { output: result.output ?? null, parts: result.parts }
      return { output: result ?? null, parts: [] }
    },
  }
}
