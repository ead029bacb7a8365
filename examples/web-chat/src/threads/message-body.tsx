import type { Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { AnswerText } from '../answers/answer-text.tsx'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { MessageFiles } from '../files/lazy-files.ts'
import { Markdown } from '../markdown/lazy.tsx'
import { MentionsContext } from '../markdown/mentions.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { isRunning } from './is-running.ts'
import { useMentioned } from './mentioned.ts'
import { PendingNote } from './pending-note.tsx'
import { QuotedMessage } from './quoted-message.tsx'

const Used = lazy(() => import('../commands/used.tsx').then(({ Used }) => Used))
const Answer = lazy(() => import('../answers/answer.tsx').then(({ Answer }) => Answer), AnswerText)

interface BodyProps {
  message: StoreMessage
  user_id: string
  /** The message that it answers, where that is shown. */
  answered?: Message['quote'] | undefined
  /** Asks for another answer, where one may be asked for. */
  onAgain?: (() => Promise<void>) | undefined
}

/** What a message says, and what becomes of it. */
export function MessageBody({ message, user_id, answered, onAgain }: BodyProps) {
  const { content, deleted_at, pending, role, conversation_id, quote } = message
  const mentioned = useMentioned(message, user_id)
  if (deleted_at) return <Tombstone message={message} user_id={user_id} />
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

function Tombstone({
  message: { id, author_user_id, requested_by },
  user_id,
}: {
  message: StoreMessage
  user_id: string
}) {
  const { client } = useApp()
  const { messages } = texts.value
  const { run, isRunning, error } = useAction(() => client.messages.restore(id))
  return (
    <p class="note deleted">
      {messages.deleted}{' '}
      {(author_user_id ?? requested_by) === user_id && (
        <button type="button" class="link" disabled={isRunning} onClick={() => void run()}>
          {messages.restore}
        </button>
      )}
      <ErrorNote error={error} />
    </p>
  )
}
