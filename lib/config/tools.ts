import { assistantName } from './assistants.ts'
import { flag, integer, oneOf, someText } from './key.ts'

/** The form of the name of a tool: models take no other characters. */
const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/

/** What every tool has beside its function. */
export const TOOL_SETTINGS = {
  title: assistantName,
  description: someText,
  idempotent: flag,
  timeout_seconds: integer(1, 3600),
  show: oneOf('all', 'input', 'name'),
}

/** Whether a tool may have this name. */
export function isToolName(name: string): boolean {
  return TOOL_NAME.test(name) && name !== 'constructor' && name !== 'prototype'
}
