import type { Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { Markdown } from '../markdown/lazy.tsx'
import { MentionsContext } from '../markdown/mentions.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { lazy } from '../parts/lazy.tsx'
import { texts } from '../texts/texts.ts'
import { useMentioned } from './mentioned.ts'
import { PendingNote } from './pending-note.tsx'
import { QuotedMessage } from './quoted-message.tsx'

const Used = lazy(() => import('../commands/used.tsx').then(({ Used }) => Used))
const MessageFiles = lazy(() => import('../files/message-files.tsx').then(({ MessageFiles }) => MessageFiles))

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
  const { messages } = texts.value
  const mentioned = useMentioned(message, user_id)
  if (deleted_at) return <Tombstone message={message} user_id={user_id} />
  return (
    <MentionsContext.Provider value={mentioned}>
      {message.invocation && <Used invocation={message.invocation} />}
      {answered && <QuotedMessage conversation_id={conversation_id} quote={answered} />}
      {quote && <QuotedMessage conversation_id={conversation_id} quote={quote} />}
      {role === 'assistant' && content === '' && message.status === 'streaming' && (
        <p class="note">{messages.thinking}</p>
      )}
      <Markdown text={content} isGrowing={message.status === 'streaming'} />
      {message.attachments && <MessageFiles files={message.attachments} message={message} />}
      {role === 'assistant' && <AnswerState message={message} user_id={user_id} onAgain={onAgain} />}
      {pending && <PendingNote post={pending} />}
    </MentionsContext.Provider>
  )
}

/** Why an answer has ended early, or may have; `undefined` while it is written, and for a whole one. */
function endingOf({ status, failure, finish_reason }: StoreMessage): string | undefined {
  const { messages } = texts.value
  if (status === 'streaming') return undefined
  if (failure) return messages.failures[failure]
  if (status !== 'complete') return messages[status]
  return finish_reason === 'unknown' ? messages.perhaps_cut : undefined
}

/** Whether an answer is being written, which can be stopped, or why it has ended early. */
function AnswerState({ message, user_id, onAgain }: BodyProps) {
  const { store } = useApp()
  const { messages } = texts.value
  const { run, isRunning, error } = useAction(() => store.cancelAnswer(message.id))
  const again = useAction(async () => onAgain?.())
  const ended = endingOf(message)
  if (ended !== undefined)
    return (
      <p class="note">
        {ended}{' '}
        {onAgain && (
          <button type="button" class="link" disabled={again.isRunning} onClick={() => void again.run()}>
            {texts.value.retry}
          </button>
        )}
        <ErrorNote error={again.error} />
      </p>
    )
  // The box has the button for an own one.
  if (message.status === 'complete' || message.requested_by === user_id) return null
  return (
    <>
      <button type="button" class="stop" disabled={isRunning} onClick={() => void run()}>
        <Icon name="stop" />
        {messages.stop}
      </button>
      <ErrorNote error={error} />
    </>
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
