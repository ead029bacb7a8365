import * as v from 'valibot'
import type { Message } from '../../chat/messages/schema.ts'
import { publicUrlOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, opaque } from '../../core/schema.ts'
import { MAX_MESSAGES } from '../bounds.ts'
import { toUri } from '../resources/uri.ts'
import type { ResourceLink } from './tool.ts'

/** An id in a result: its form matters where it comes in. */
export const IdText = v.string()

/** A message of a result: what is always needed of it. It has all that the HTTP API returns. */
export const ShownMessage = v.object({
  id: IdText,
  conversation_id: IdText,
  root_id: IdText,
  parent_id: v.optional(IdText),
  author_user_id: v.optional(IdText),
  author: v.optional(v.pipe(v.string(), v.description('Its name'))),
  role: v.picklist(['user', 'assistant', 'system']),
  content: v.string(),
  status: v.string(),
  created_at: v.string(),
  cut: v.optional(v.pipe(v.number(), v.integer(), v.description('Bytes that are left out'))),
})

/** The position behind the news that a result has. */
export const After = v.pipe(v.string(), v.description('Position behind this result, for wait_for_messages'))

/** A position of an earlier result. */
export const Position = opaque(MAX_LENGTH.position)

/** An id of an argument, described. */
export const idOf = (description: string) => v.pipe(Id, v.description(description))

/** How many items a result has; more are lowered to the maximum. */
export const count = (fallback: number, most: number) =>
  v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.toMaxValue(most), v.description(`At most ${most}`)),
    fallback,
  )

/** The thread of a message, as a link. */
export const threadLink = (
  { conversation_id, root_id }: { conversation_id: string; root_id: string },
  name = 'Thread',
): ResourceLink => ({
  uri: toUri({ conversation_id, root_id }),
  name,
  mimeType: 'text/markdown',
})

/** The files of messages, as links; without a public URL there are none. */
export function fileLinks(ctx: Pick<Context, 'config'>, messages: readonly Message[]): ResourceLink[] {
  const base = publicUrlOf(ctx.config)
  if (base === undefined) return []
  const files = messages.flatMap(({ attachments = [] }) => attachments)
  const ready = files.filter(({ status }) => status === 'ready').slice(0, MAX_MESSAGES)
  return ready.map(({ id, name, type }) => ({ uri: `${base}/api/attachments/${id}/content`, name, mimeType: type }))
}
