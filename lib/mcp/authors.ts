import { search as searchPeople } from '../chat/people/service.ts'
import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { bind } from '../core/use-case.ts'
import type { BoundedMessage } from './bounds.ts'

/** A message with the name of its author. */
export type NamedMessage = BoundedMessage & { author?: string }

/** The messages with the names of their authors, as far as the actor may know them. */
export async function withAuthors(
  ctx: Context,
  actor: Actor,
  messages: readonly BoundedMessage[],
): Promise<NamedMessage[]> {
  const ids = [...new Set(messages.flatMap(({ author_user_id }) => author_user_id ?? []))]
  if (ids.length === 0) return [...messages]
  const { users } = await bind(ctx, searchPeople)(actor, { ids: ids.join(',') })
  const names = new Map(users.map(({ id, display_name, username }) => [id, display_name ?? username]))
  return messages.map((message) => {
    const author = message.author_user_id === undefined ? undefined : names.get(message.author_user_id)
    return author === undefined ? message : { ...message, author }
  })
}
