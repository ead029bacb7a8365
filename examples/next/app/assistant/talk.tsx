'use client'

import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { createChatClient } from 'chat-server/client'
import { uiTransport } from 'chat-server/client/ai'
import { useRouter } from 'next/navigation'

const transport = uiTransport(createChatClient({ base_url: '/chat' }))

/** A chat of the person who is signed in. A reload resumes its answer. */
export function Talk({ id, loaded }: { id: string; loaded: UIMessage[] }) {
  const router = useRouter()
  const { messages, sendMessage, regenerate, status, error } = useChat({
    id,
    transport,
    messages: loaded,
    resume: true,
    // The server renders the list of chats again.
    onFinish: () => router.refresh(),
  })
  const isBusy = status === 'submitted' || status === 'streaming'
  return (
    <>
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
