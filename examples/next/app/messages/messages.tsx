'use client'

import { createChatClient } from 'chat-server/client'
import { ChatProvider, type ChatProviderProps, useConversations } from 'chat-server/react'

// Nothing is sent before the page is in a browser: a server renders what the snapshot has.
const client = createChatClient({ base_url: '/chat' })

function Conversations() {
  const { conversations, status } = useConversations()
  return (
    <ul aria-busy={status === 'loading'}>
      {conversations.map(({ id, title, unread }) => (
        <li key={id}>
          {title} ({unread})
        </li>
      ))}
    </ul>
  )
}

/** The conversations of the person who is signed in. */
export function Messages({ initial }: Pick<ChatProviderProps, 'initial'>) {
  return (
    <ChatProvider client={client} initial={initial}>
      <Conversations />
    </ChatProvider>
  )
}
