import type { User } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { Composer } from '../compose/composer.tsx'
import { runningOf } from '../compose/running.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { texts } from '../texts/texts.ts'
import { authorOf } from './author.ts'
import { TypingLine } from './typing-line.tsx'

interface ReplyBoxProps {
  conversation: OpenConversation
  messages: readonly StoreMessage[]
  /** The message that is answered; without one, the thread is. */
  target: StoreMessage | undefined
  canWrite: boolean
  user: User
  onTarget: (message: StoreMessage | undefined) => void
}

/** Writes a reply: to a chosen message, to an answer that one has asked for, or to the thread. */
export function ReplyBox({ conversation, messages, target, canWrite, user, onTarget }: ReplyBoxProps) {
  const { store, people, presence } = useApp()
  const { composer } = texts.value
  const root = messages[0]!
  const { root_id } = root
  const parent = target ?? dialogueOf(messages, user.id) ?? root
  if (!canWrite)
    return (
      <footer>
        <p class="quiet">{composer.viewer}</p>
      </footer>
    )
  return (
    <footer>
      <TypingLine conversation_id={conversation.id} root_id={root_id} />
      {target && (
        <p class="replying">
          <span dir="auto">{composer.replying(authorOf(target, people))}</span>
          <IconButton icon="close" label={composer.stop_replying} onClick={() => onTarget(undefined)} />
        </p>
      )}
      <Composer
        user_id={user.id}
        conversation_id={conversation.id}
        place={root_id}
        label={composer.reply_label}
        placeholder={composer.reply}
        isTalk={conversation.layout === 'assistant' || isTalkOf(messages, user.id)}
        running={runningOf(messages, user.id)}
        focus_key={target?.id}
        onSend={async (content, role, attachments) => {
          onTarget(undefined)
          const files = attachments.length > 0 && { attachments }
          await store.post({ conversation_id: conversation.id, root_id, parent_id: parent.id, content, role, ...files })
        }}
        onTyping={() => presence.sendTyping(conversation.id, root_id)}
      />
    </footer>
  )
}

/** Whether the last message is an answer to this user, or will be one. */
function isTalkOf(messages: readonly StoreMessage[], user_id: string): boolean {
  const last = messages.at(-1)!
  return last.role === 'assistant' && last.requested_by === user_id
}

/** The last message, if it is an answer to this user: what is written next goes on from there. */
function dialogueOf(messages: readonly StoreMessage[], user_id: string): StoreMessage | undefined {
  const last = messages.at(-1)!
  return isTalkOf(messages, user_id) && !last.pending && !last.deleted_at ? last : undefined
}
