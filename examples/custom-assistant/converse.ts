import { type Chat, OPERATOR } from 'chat-server'

/** Ada and Grace chat, Ada asks the assistant, and its answer is printed as it streams. */
export async function converse(chat: Chat, question: string): Promise<void> {
  const setup = await chat.setup.run({ email: 'ada@example.org', password: 'correct horse battery' })
  const created = await chat.users.create(OPERATOR, { username: 'grace', email: 'grace@example.org' })
  const ada = await chat.users.actor(setup.user.id)
  const grace = await chat.users.actor(created.user.id)
  const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
  await chat.participants.add(ada, conversation_id, { user_id: grace.user_id })

  const root = await chat.messages.postRoot(ada, conversation_id, { content: 'The engine weaves patterns.' })
  const reply = await chat.messages.reply(grace, root.message_id, { content: 'As a loom weaves leaves.' })
  const { stream_position } = await chat.threads.tree(ada, root.root_id)
  await chat.messages.reply(ada, reply.message_id, { content: question, role: 'assistant' })

  for await (const { event } of chat.events.follow(ada, conversation_id, { last_event_id: stream_position })) {
    if (event.type === 'message.delta') process.stdout.write(event.payload.choices[0]!.delta.content)
    if (event.type === 'message.failed') console.log(event.payload.message)
    if (event.type !== 'message.done') continue
    const { finish_reason, usage } = event.payload
    console.log(`\n(${finish_reason}, ${usage?.total_tokens ?? 'unknown'} tokens)`)
    break
  }
}
