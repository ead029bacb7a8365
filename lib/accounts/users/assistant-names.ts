import type { Context } from '../../context.ts'
import { uniqueKey } from '../../core/characters.ts'
import { ChatError } from '../../core/errors.ts'

/**
 * Refuses a new username by which an assistant is asked, as one that another user has.
 *
 * @param before the username so far: one that was given before is kept
 * @throws ChatError `username_taken`
 */
export function refuseAssistantName({ assistants }: Pick<Context, 'assistants'>, username: string, before = ''): void {
  const key = uniqueKey(username)
  if (key !== uniqueKey(before) && assistants.find(key)) throw new ChatError('username_taken')
}
