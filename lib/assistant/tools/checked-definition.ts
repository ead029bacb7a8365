import * as v from 'valibot'
import { readApproval } from '../../config/approval.ts'
import { TOOL_SETTINGS } from '../../config/tools.ts'
import type { ToolDefinition } from './definition.ts'

const isFunction = (value: unknown) => typeof value === 'function'

/** What a definition has; the input is looked at when the tool gets its name. */
const Definition = v.strictObject({
  description: TOOL_SETTINGS.description,
  title: v.optional(TOOL_SETTINGS.title),
  input: v.custom((value) => value !== undefined, 'must be set'),
  run: v.custom(isFunction, 'must be a function'),
  approval: v.optional(v.unknown()),
  idempotent: v.optional(TOOL_SETTINGS.idempotent),
  timeout_seconds: v.optional(TOOL_SETTINGS.timeout_seconds),
  show: v.optional(TOOL_SETTINGS.show),
})

/** @throws TypeError that names the first wrong member */
export function assertDefinition<Input>(definition: ToolDefinition<Input>): void {
  const { issues } = v.safeParse(Definition, definition)
  if (issues) throw new TypeError(`defineTool: ${problemOf(issues[0])}`)
  const { approval } = definition
  if (approval === undefined || isFunction(approval)) return
  try {
    readApproval(approval)
  } catch (error) {
    throw new TypeError(`defineTool: ${(error as TypeError).message}`)
  }
}

function problemOf(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue)
  if (path === null) return 'needs an object'
  if (issue.type !== 'strict_object') return `${path} ${issue.message}`
  return issue.expected === 'never' ? `has no "${path}"` : `${path} must be set`
}
