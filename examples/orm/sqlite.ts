// Orders of the application on SQLite, in Drizzle and in Kysely, each with a message of the chat in one transaction. The chat
// begins and commits it, on the handle that both use.
import type { Database } from 'better-sqlite3'
import type { Actor, Chat } from 'chat-server'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable } from 'drizzle-orm/sqlite-core'
import { Kysely, SqliteDialect } from 'kysely'

export const orders = sqliteTable('orders', { id: integer('id').primaryKey() })

/** Stores an order by Drizzle, and posts its message. */
export async function placeWithDrizzle(db: Database, chat: Chat, actor: Actor, conversation_id: string, id: number) {
  await chat.withTransaction(db, async ({ messages }) => {
    drizzle(db).insert(orders).values({ id }).run()
    await messages.postRoot(actor, conversation_id, { content: `Order ${id}` })
  })
}

/** Stores an order by Kysely, and posts its message. */
export async function placeWithKysely(db: Database, chat: Chat, actor: Actor, conversation_id: string, id: number) {
  const kysely = new Kysely<{ orders: { id: number } }>({ dialect: new SqliteDialect({ database: db }) })
  await chat.withTransaction(db, async ({ messages }) => {
    await kysely.insertInto('orders').values({ id }).execute()
    await messages.postRoot(actor, conversation_id, { content: `Order ${id}` })
  })
}
