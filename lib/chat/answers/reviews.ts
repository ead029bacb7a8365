import { toActor } from '../../accounts/users/rules.ts'
import { findUser } from '../../accounts/users/store.ts'
import { findSystemName } from '../../accounts/users/store-system.ts'
import type { Actor } from '../../core/actor.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import type { Queries } from '../../storage/database.ts'
import type { TaskDetail } from '../../tasks/schema.ts'

/** Has a task ask the host about the text of a program that was cut off. It keeps the author, which may be erased before. */
export async function askLater(tx: Tx, messageId: string, author_id: string | null): Promise<void> {
  const author = await findAuthor(tx, author_id)
  tx.enqueue({ kind: 'message.review', key: messageId, detail: author ? { author: JSON.stringify(author) } : {} })
}

/** The author as it is now; one that is erased as it was. */
export async function authorOf(db: Queries, author_id: string | null, { author }: TaskDetail) {
  return (await findAuthor(db, author_id)) ?? (author === undefined ? undefined : (JSON.parse(String(author)) as Actor))
}

async function findAuthor(db: Queries, id: string | null): Promise<Actor | undefined> {
  const user = id === null ? undefined : await findUser(db, id)
  if (!user) return undefined
  const system = await findSystemName(db, user.id)
  return { ...toActor(user), ...(system !== undefined && { system }) }
}
