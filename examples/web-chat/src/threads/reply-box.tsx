import type { User } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useApp } from '../app/context.ts'
import { goTo } from '../app/route.ts'
import { usualAssistant } from '../compose/asked-assistant.ts'
import { Composer, type WrittenPost } from '../compose/composer.tsx'
import { runningOf } from '../compose/running.ts'
import { titleOf } from '../conversations/title.ts'
import type { Can } from '../conversations/use-can.ts'
import type { OpenConversation } from '../conversations/use-conversation.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { authorOf } from './author.ts'
import { TypingLine } from './typing-line.tsx'

const Closed = lazy(() => import('../compose/closed.tsx').then(({ Closed }) => Closed))

interface ReplyBoxProps {
  conversation: OpenConversation
  root_id: string
  messages: readonly StoreMessage[]
  /** The messages up to the newest one, where these may end before it. */
  newest?: () => Promise<readonly StoreMessage[]>
  /** Whether the last message is an answer to the user, or will be one. */
  isTalk: boolean
  /** The message that is answered; without one, the thread is. */
  target: StoreMessage | undefined
  can: Can
  user: User
  onTarget: (message: StoreMessage | undefined) => void
  /** Edits the last own message. */
  onEditLast: () => void
}

/** Writes a reply: to a chosen message, to an answer that one has asked for, or to the thread. */
export function ReplyBox(props: ReplyBoxProps) {
  const { conversation, root_id, messages, newest, isTalk, target, can, user, onTarget, onEditLast } = props
  const { store, people, presence, features } = useApp()
  const { composer } = texts.value

  async function send(written: WrittenPost): Promise<void> {
    onTarget(undefined)
    const conversation_id = conversation.id
    const answered = target ?? dialogueOf(newest ? await newest() : messages, user.id)
    const isTooDeep = answered !== undefined && answered.depth >= features.limits.max_depth
    if (isTooDeep && !target && conversation.layout === 'assistant' && can.has('post')) {
      // The talk says where another thread begins.
      goTo({ name: 'conversation', conversation_id })
      await store.post({ conversation_id, ...written })
      return
    }
    const place = isTooDeep ? { parent_id: root_id, quote_id: answered.id } : { parent_id: answered?.id ?? root_id }
    await store.post({ conversation_id, root_id, ...place, ...written })
  }

  if (!can.has('reply'))
    return (
      <footer>
        <Closed conversation={conversation} act="reply" />
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
        conversation={conversation}
        place={root_id}
        label={composer.reply_label}
        placeholder={composer.reply}
        partner={conversation.direct && titleOf(conversation)}
        can={can}
        isTalk={conversation.layout === 'assistant' || isTalk}
        usual={usualAssistant(conversation, messages)}
        running={runningOf(messages, user.id)}
        focus_key={target?.id}
        onSend={send}
        onEditLast={onEditLast}
        onTyping={() => presence.sendTyping(conversation.id, root_id)}
      />
    </footer>
  )
}

/** Whether the last message is an answer to this user, or will be one. */
export function isTalkOf(messages: readonly StoreMessage[], user_id: string): boolean {
  const last = messages.at(-1)
  return last?.role === 'assistant' && last.requested_by === user_id
}

/** The last message, if it is an answer to this user: what is written next goes on from there. */
function dialogueOf(messages: readonly StoreMessage[], user_id: string): StoreMessage | undefined {
  const last = messages.at(-1)
  return isTalkOf(messages, user_id) && !last?.pending && !last?.deleted_at ? last : undefined
}
