import type { Attachment, User } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { goTo } from '../app/route.ts'
import { Composer } from '../compose/composer.tsx'
import { titleOf } from '../conversations/title.ts'
import { mayWrite, type OpenConversation } from '../conversations/use-conversation.ts'
import { texts } from '../texts/texts.ts'
import { ThreadList } from './list.tsx'
import { TypingLine } from './typing-line.tsx'

interface TopicsProps {
  conversation: OpenConversation
  user: User
  /** The thread that is open beside it. */
  root_id: string | undefined
}

/** The threads of a conversation, latest activity first, and a composer that begins one. */
export function Topics({ conversation, user, root_id }: TopicsProps) {
  const { store, presence } = useApp()
  const { id } = conversation
  const { composer, stream } = texts.value

  async function begin(content: string, role: 'user' | 'assistant', attachments: Attachment[]): Promise<void> {
    const files = attachments.length > 0 && { attachments }
    const posted = await store.post({ conversation_id: id, content, role, ...files })
    if (posted && role === 'assistant') goTo({ name: 'thread', conversation_id: id, root_id: posted.root_id })
  }

  return (
    <>
      <ThreadList conversation_id={id} selected={root_id} />
      <footer>
        <TypingLine conversation_id={id} />
        {mayWrite(conversation, user) ? (
          <Composer
            user_id={user.id}
            conversation_id={id}
            place={id}
            label={stream.box(titleOf(conversation))}
            placeholder={composer.thread}
            isTalk={false}
            running={undefined}
            onSend={begin}
            onTyping={() => presence.sendTyping(id)}
          />
        ) : (
          <p class="quiet">{composer.viewer}</p>
        )}
      </footer>
    </>
  )
}
