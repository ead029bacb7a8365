import { randomUUID } from 'node:crypto'
import type { UIMessage } from 'ai'
import { OPERATOR } from 'chat-server'
import { redirect } from 'next/navigation'
import { getChat } from '../../lib/chat'
import { currentLogin, PEOPLE } from '../../lib/login'
import { Talk } from './talk'

export default async function Page({ searchParams }: { searchParams: Promise<{ chat?: string }> }) {
  const { person_id } = await currentLogin()
  const person = PEOPLE.find(({ id }) => id === person_id)
  if (!person) return <p>Sign in first.</p>
  const { chat: id } = await searchParams
  if (!id) redirect(`/assistant?chat=${randomUUID()}`)
  const { chat } = await getChat()
  await chat.users.ensure(OPERATOR, { subject: person.id, username: person.username })
  const actor = await chat.users.actorOf(person.id)
  const { chats } = await chat.uiChats.list(actor)
  const { messages } = await chat.uiChats.get(actor, id, { limit: 200 }).catch((error) => {
    // Its first question begins a chat. The error is no `instanceof` here: the chat may be of another bundle of Next.
    if (error.code === 'not_found') return { messages: [] }
    throw error
  })
  return (
    <>
      <nav>
        <a href="/assistant">New chat</a>
        {chats.map(({ id, title }) => (
          <a key={id} href={`/assistant?chat=${encodeURIComponent(id)}`}>
            {title}
          </a>
        ))}
      </nav>
      <Talk key={id} id={id} loaded={messages as UIMessage[]} />
    </>
  )
}
