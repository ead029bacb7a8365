import { type Actor, mayWrite } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { canModerate, canPost } from '../conversations/rules.ts'
import type { ParticipantRole } from '../conversations/schema.ts'
import type { Message, PostedMessage } from './schema.ts'
import { PATHS } from './schema.ts'

/** The path of every thread's root. Never empty: `path > ''` is the whole thread. */
export const ROOT_PATH = '10'

/**
 * The materialized path of the `ordinal`-th reply to the message at `parentPath`.
 *
 * A segment is its base-36 digits behind their count, so that byte order is depth-first order for any number of
 * siblings: a thread is read with `ORDER BY path`, a page is cut with `path > cursor`.
 *
 * @param ordinal position among the parent's replies, deleted ones included, from 0
 */
export function childPath(parentPath: string, ordinal: number): string {
  const digits = ordinal.toString(36)
  return parentPath + digits.length.toString(36) + digits
}

const PATHS_EXPRESSION = new RegExp(PATHS)

/** Whether a text can be a path at all: digits behind their count, again and again. */
export function isPath(path: string): boolean {
  return path !== '' && PATHS_EXPRESSION.test(path)
}

/** The paths from the root's down to this one: those of a message's ancestors and its own. */
export function pathsDownTo(path: string): string[] {
  const paths: string[] = []
  for (let at = 0; at < path.length; ) {
    at += 1 + Number.parseInt(path[at]!, 36)
    paths.push(path.slice(0, at))
  }
  return paths
}

/** An actor with their role in the conversation of a message. */
export interface Hand {
  actor: Actor
  role: ParticipantRole
}

/** Whether an actor may delete a message: their own as long as they may post, others' as an owner or admin. */
export function mayDelete({ actor, role }: Hand, message: { posted_by: string | null }): boolean {
  if (!mayWrite(actor.roles)) return false
  return canModerate(role) || (canPost(role) && message.posted_by === actor.user_id)
}

/** Whether an actor may restore a message, once it is deleted: its deleter, or an owner or admin. */
export function mayRestore(hand: Hand, message: { posted_by: string | null; deleted_by: string | null }): boolean {
  return mayDelete(hand, { posted_by: message.deleted_by ?? message.posted_by })
}

/** @throws ChatError `validation_failed` when the text is longer than `maximum` bytes of UTF-8 */
export function assertContentFits(content: string, maximum: number): void {
  // A character takes at most 3 bytes of UTF-8 for each UTF-16 unit: most texts need no counting.
  if (content.length * 3 <= maximum || new TextEncoder().encode(content).length <= maximum) return
  throw new ChatError('validation_failed', {
    errors: [{ path: 'content', message: `must be at most ${maximum} bytes of UTF-8` }],
  })
}

/** Whether nothing is left of what a message said, so that it cannot be brought back: its author was erased with it. */
export function isWiped({ content, prompt }: { content: string; prompt: string | null }): boolean {
  return content === '' && prompt === null
}

/** The answer to a post. */
export function toPosted(message: Message): PostedMessage {
  const { id: message_id, root_id, conversation_id, parent_id, depth } = message
  return { message_id, root_id, conversation_id, ...(parent_id && { parent_id }), depth, message }
}
