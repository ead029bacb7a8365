import * as v from 'valibot'
import { ChatError } from '../../core/errors.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import type { Message } from '../messages/schema.ts'
import { type HookContext, resultOf } from './before.ts'

/** How long the hook may take: it may ask a model of its own. */
const TIMEOUT_MS = 10_000

const Verdict = v.nullish(v.object({ withdraw: v.optional(v.string()) }))

/**
 * Asks the host about an answer that its provider has completed. When the hook fails, the answer is withdrawn, unless such
 * failures pass.
 *
 * @returns why it is withdrawn; `undefined` if its readers may have it
 */
export async function askAboutAnswer(ctx: HookContext, message: Message): Promise<string | undefined> {
  const { afterAnswer } = ctx.host.hooks
  if (!afterAnswer) return undefined
  try {
    const options = { name: 'afterAnswer', schema: Verdict, timeout_ms: TIMEOUT_MS } as const
    const verdict = await resultOf(ctx, options, () => afterAnswer({ message }))
    return verdict?.withdraw?.slice(0, MAX_LENGTH.remark)
  } catch (error) {
    if (error instanceof ChatError) return error.message
    throw error
  }
}
