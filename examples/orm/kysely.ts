// An order of the application, in Kysely, with a message of the chat in one transaction.
import type { Actor, Chat } from 'chat-server'
import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'

interface Tables {
  orders: { id: number }
}

/** Stores an order and posts its message: both, or neither. */
export async function placeOrder(pool: Pool, chat: Chat, actor: Actor, conversation_id: string, id: number) {
  const client = await pool.connect()
  // A pool of this client alone, which Kysely releases at the end of the transaction: the chat joins it on the client.
  const own = { options: pool.options, connect: async () => client, end: async () => {} }
  const dialect = new PostgresDialect({ pool: own })
  await new Kysely<Tables>({ dialect }).transaction().execute(async (trx) => {
    await trx.insertInto('orders').values({ id }).execute()
    await chat.withTransaction(client, ({ messages }) =>
      messages.postRoot(actor, conversation_id, { content: `Order ${id}` }),
    )
  })
  await chat.flush()
}
