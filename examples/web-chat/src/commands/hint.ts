import type { CommandOption } from 'chat-server/client'
import { composeTexts } from '../texts/compose.ts'

/** What may be given for an option. */
export function hintOf({ type, choices }: CommandOption): string {
  const { types } = composeTexts.value.commands
  return `(${choices ? choices.join(', ') : types[type]})`
}
