// The caller's chats, and the one that the address names, with useChat. A reload resumes its answer.
import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { ChatError, createChatClient } from 'chat-server/client'
import { type UiChat, uiTransport } from 'chat-server/client/ai'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

const transport = uiTransport(createChatClient({ base_url: '/chat' }))
const id = new URLSearchParams(location.search).get('chat') ?? crypto.randomUUID()
history.replaceState(null, '', `?chat=${id}`)

/** The messages of the chat, which its first question begins. */
async function load(): Promise<UIMessage[]> {
  return transport.load(id).catch((error) => {
    if (error instanceof ChatError && error.code === 'not_found') return []
    throw error
  })
}

function Page({ loaded, listed }: { loaded: UIMessage[]; listed: UiChat[] }) {
  const [chats, setChats] = useState(listed)
  const { messages, sendMessage, regenerate, status, error } = useChat({
    id,
    transport,
    messages: loaded,
    resume: true,
    onFinish: async () => setChats((await transport.list()).chats),
  })
  const isBusy = status === 'submitted' || status === 'streaming'
  return (
    <>
      <nav>
        <a href="/">New chat</a>
        {chats.map((chat) => (
          <a key={chat.id} href={`?chat=${encodeURIComponent(chat.id)}`}>
            {chat.title}
          </a>
        ))}
      </nav>
      <main data-status={status}>
        {messages.map(({ id, role, parts }) => (
          <p key={id} className={role}>
            {parts.map((part) => (part.type === 'text' ? part.text : ''))}
          </p>
        ))}
        {error && <p role="alert">{error.message}</p>}
      </main>
      <form action={(form) => void sendMessage({ text: String(form.get('text')) })}>
        <input name="text" placeholder="Count to 50" required />
        <button type="submit" disabled={isBusy}>
          Send
        </button>
        <button type="button" disabled={!isBusy} onClick={() => transport.stop(id)}>
          Stop
        </button>
        <button type="button" disabled={isBusy || messages.length === 0} onClick={() => regenerate()}>
          Ask again
        </button>
      </form>
    </>
  )
}

const [{ chats }, loaded] = await Promise.all([transport.list(), load()])
createRoot(document.getElementById('root')!).render(<Page loaded={loaded} listed={chats} />)
