import type { Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { AnswerText } from '../answers/answer-text.tsx'
import type { Can } from '../conversations/use-can.ts'
import { MessageFiles } from '../files/lazy-files.ts'
import { Markdown } from '../markdown/lazy.tsx'
import { MentionsContext } from '../markdown/mentions.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { isRunning } from './is-running.ts'
import { useMentioned } from './mentioned.ts'
import { PendingNote } from './pending-note.tsx'
import { QuotedMessage } from './quoted-message.tsx'

const Used = lazy(() => import('../commands/used.tsx').then(({ Used }) => Used))
const Tombstone = lazy(() => import('./tombstone.tsx').then(({ Tombstone }) => Tombstone), Deleted)
const Answer = lazy(() => import('../answers/answer.tsx').then(({ Answer }) => Answer), AnswerText)

export interface BodyProps {
  message: StoreMessage
  user_id: string
  /** What the user may do in the conversation. */
  can: Can
  /** Whether the conversation is frozen. */
  isFrozen: boolean
  /** The message that it answers, where that is shown. */
  answered?: Message['quote'] | undefined
  /** Asks for another answer, where one may be asked for. */
  onAgain?: (() => Promise<void>) | undefined
}

/** What a message says, and what becomes of it. */
export function MessageBody({ message, user_id, can, isFrozen, answered, onAgain }: BodyProps) {
  const { content, deleted_at, pending, role, conversation_id, quote } = message
  const mentioned = useMentioned(message, user_id)
  if (deleted_at) return <Tombstone message={message} user_id={user_id} can={can} isFrozen={isFrozen} />
  return (
    <MentionsContext.Provider value={mentioned}>
      {message.invocation && <Used invocation={message.invocation} />}
      {answered && <QuotedMessage conversation_id={conversation_id} quote={answered} />}
      {quote && <QuotedMessage conversation_id={conversation_id} quote={quote} />}
      {role === 'assistant' ? (
        <Answer message={message} user_id={user_id} onAgain={onAgain} />
      ) : (
        <>
          <Markdown text={content} isGrowing={isRunning(message)} />
          {message.attachments && <MessageFiles files={message.attachments} message={message} />}
        </>
      )}
      {pending && <PendingNote post={pending} />}
    </MentionsContext.Provider>
  )
}

function Deleted() {
  return <p class="note deleted">{texts.value.messages.deleted}</p>
}
