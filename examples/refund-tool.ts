// A tool in the process of its host: it pays orders back in the host's own database, and each call once. A larger sum waits for
// the owner of the conversation.
//
//   npx tsx examples/refund-tool.ts
import Sqlite from 'better-sqlite3'
import {
  type Assistant,
  createChatService,
  defineTool,
  OPERATOR,
  openStorage,
  parseConfig,
  ToolFailure,
} from 'chat-server'
import * as v from 'valibot'

const shop = new Sqlite(':memory:')
shop.exec(`
  CREATE TABLE orders (id TEXT PRIMARY KEY, cents INTEGER NOT NULL);
  CREATE TABLE refunds (call_id TEXT PRIMARY KEY, order_id TEXT NOT NULL REFERENCES orders, cents INTEGER NOT NULL);
  INSERT INTO orders VALUES ('A-1001', 5000);
`)
const findRefund = shop.prepare('SELECT 1 FROM refunds WHERE call_id = ?')
const findLeft = shop
  .prepare('SELECT cents - (SELECT coalesce(sum(cents), 0) FROM refunds WHERE order_id = id) FROM orders WHERE id = ?')
  .pluck()
const insertRefund = shop.prepare('INSERT INTO refunds VALUES (?, ?, ?)')

/** In one transaction, with the call as the key: a call that runs again finds its row, so that the tool is idempotent. */
const payBack = shop.transaction((call_id: string, order: string, cents: number): number => {
  const left = findLeft.get(order) as number | undefined
  if (left === undefined) throw new ToolFailure(`There is no order ${order}.`)
  if (findRefund.get(call_id)) return left
  if (cents > left) throw new ToolFailure(`Of order ${order}, ${left} cents can be paid back.`)
  insertRefund.run(call_id, order, cents)
  return left - cents
})

const refund = defineTool({
  title: 'Refund',
  description: 'Pays an order back, in whole or in part.',
  input: v.object({
    order: v.pipe(v.string(), v.description('The number of the order, such as A-1001')),
    cents: v.pipe(v.number(), v.integer(), v.minValue(1)),
  }),
  approval: ({ cents }) => cents > 2000 && { by: 'admins', not_asker: true },
  idempotent: true,
  run: ({ order, cents }, { call_id }) => ({ order, cents, left: payBack.immediate(call_id, order, cents) }),
})

/** In place of a model: calls the tool with what the question names, and reports the result. */
const clerk: Assistant = async function* ({ turns, so_far, tools }) {
  const [, cents, order] = /(\d+) cents of (A-\d+)/.exec(turns.at(-1)!.content)!
  const call = so_far.find((part) => part.type === 'tool')
  if (!call) yield { tool_call: { name: tools[0]!.name, input: { order: order!, cents: Number(cents) } } }
  else if (call.state === 'done') yield `Paid back: ${JSON.stringify(call.output)}`
  else yield `Not paid back: ${call.error?.message ?? call.state}`
}

const config = parseConfig({ assistant: { tools: ['refund'] } })
const storage = await openStorage({ database: 'sqlite::memory:' })
const chat = createChatService(config, storage, { assistant: clerk, tools: { refund } })
await chat.start()

const setup = await chat.setup.run({ email: 'grace@example.org', password: 'correct horse battery' })
const created = await chat.users.create(OPERATOR, { username: 'ada', email: 'ada@example.org' })
const grace = await chat.users.actor(setup.user.id)
const ada = await chat.users.actor(created.user.id)
const { conversation_id } = await chat.conversations.create(grace, { title: 'Orders' })
await chat.participants.add(grace, conversation_id, { user_id: ada.user_id })

// Events are read from here on, so that none is missed.
const welcome = await chat.messages.postRoot(grace, conversation_id, { content: 'Which order is it?' })
let position = (await chat.threads.tree(ada, welcome.root_id)).stream_position

/** Ada asks, Grace approves what waits for her, and the answer is printed. */
async function ask(content: string): Promise<void> {
  const { message_id } = await chat.messages.postRoot(ada, conversation_id, { content, role: 'assistant' })
  for await (const { id, event } of chat.events.follow(ada, conversation_id, { last_event_id: position })) {
    position = id ?? position
    if (event.type === 'approval.changed' && event.payload.approval.state === 'waiting') {
      const { call_id, tool } = event.payload.approval
      console.log(`${tool.title} waits for Grace.`)
      await chat.approvals.decide(grace, call_id, { approve: true })
    }
    if (event.type === 'message.done' && event.payload.message_id === message_id) break
  }
  console.log((await chat.messages.get(ada, message_id)).content)
}

await ask('Please pay back 500 cents of A-1001.')
await ask('Please pay back 4000 cents of A-1001.')
await ask('Please pay back 4000 cents of A-1001.')
await ask('Please pay back 100 cents of A-1.')

console.log(`${shop.prepare('SELECT count(*) FROM refunds').pluck().get()} refunds`)
await chat.close()
shop.close()
