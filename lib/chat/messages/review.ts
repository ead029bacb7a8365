import * as v from 'valibot'
import type { Context, MessageBefore } from '../../context.ts'
import { parseInput } from '../../core/use-case.ts'
import { askAboutMessage } from '../hooks/before.ts'
import { assertContentFits } from './rules.ts'
import { VisibleContent } from './schema.ts'

const Changed = v.object({ content: VisibleContent })

/**
 * Asks the host about a message.
 *
 * @returns the text to store
 * @throws ChatError `forbidden` with the text of the host; `validation_failed` for an invalid text of the host;
 *   `unavailable` when the hook fails
 */
export async function reviewMessage(ctx: Context, message: MessageBefore): Promise<string> {
  const changed = await askAboutMessage(ctx, message)
  if (changed === undefined) return message.content
  const { content } = parseInput(Changed, { content: changed })
  assertContentFits(content, ctx.config.limits.message_bytes)
  return content
}
