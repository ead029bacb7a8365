import type { StoreMessage } from 'chat-server/client/store'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { answersTexts } from '../texts/answers.ts'
import { texts } from '../texts/texts.ts'
import { isRunning } from '../threads/is-running.ts'
import type { AnswerProps } from './answer-text.tsx'

/** Why an answer has ended early, or may have; `undefined` while it is written, and for a whole one. */
function endingOf(message: StoreMessage): string | undefined {
  const { status, failure, finish_reason } = message
  const { failures, endings, perhaps_cut } = answersTexts.value
  if (isRunning(message)) return undefined
  if (failure) return failures[failure]
  if (status !== 'complete') return endings[status]
  return finish_reason === 'unknown' ? perhaps_cut : undefined
}

/** Whether an answer is being written, which can be stopped, or why it has ended early. */
export function AnswerState({ message, user_id, onAgain }: AnswerProps) {
  const { store } = useApp()
  const { run, isRunning: isStopping, error } = useAction(() => store.cancelAnswer(message.id))
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
      <button type="button" class="stop" disabled={isStopping} onClick={() => void run()}>
        <Icon name="stop" />
        {texts.value.messages.stop}
      </button>
      <ErrorNote error={error} />
    </>
  )
}
