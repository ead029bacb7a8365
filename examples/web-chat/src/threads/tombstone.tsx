import { ChatError } from 'chat-server/client'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { mayWrite } from '../conversations/use-can.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { texts } from '../texts/texts.ts'
import type { BodyProps } from './message-body.tsx'

/** What is shown in the place of a deleted message, which some may restore. */
export function Tombstone({
  message: { id, role, finish_reason, author_user_id, requested_by },
  user_id,
  can,
  isFrozen,
}: Pick<BodyProps, 'message' | 'user_id' | 'can' | 'isFrozen'>) {
  const { client } = useApp()
  const { messages } = texts.value
  const { run, isRunning, error } = useAction(() => client.messages.restore(id))
  const author = author_user_id ?? requested_by
  // The text of an erased user is gone.
  const isKept = author !== undefined || role === 'system'
  // What a hook has refused is not brought back by those who had it. Whether one has withdrawn an answer, or a moderator has
  // deleted a message, no read tells them: they try once.
  const isOwn = author === user_id && finish_reason !== 'refused'
  const isRefused = error instanceof ChatError && error.status === 403
  const mayRestore = (isKept && can.has('moderate')) || (isOwn && mayWrite(can) && !isFrozen && !isRefused)
  return (
    <p class="note deleted">
      {messages.deleted}{' '}
      {mayRestore && (
        <button type="button" class="link" disabled={isRunning} onClick={() => void run()}>
          {messages.restore}
        </button>
      )}
      <ErrorNote error={error} />
    </p>
  )
}
