// An order of the application, in Drizzle, with a message of the chat in one transaction.
import type { Actor, Chat } from 'chat-server'
import { drizzle } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import type { Pool } from 'pg'

export const orders = pgTable('orders', { id: integer('id').primaryKey() })

/** Stores an order and posts its message: both, or neither. */
export async function placeOrder(pool: Pool, chat: Chat, actor: Actor, conversation_id: string, id: number) {
  const client = await pool.connect()
  try {
    // On a client, not on the pool, so that the chat can join the transaction.
    await drizzle(client).transaction(async (tx) => {
      await tx.insert(orders).values({ id })
      await chat.withTransaction(client, ({ messages }) =>
        messages.postRoot(actor, conversation_id, { content: `Order ${id}` }),
      )
    })
  } finally {
    client.release()
  }
  await chat.flush()
}
