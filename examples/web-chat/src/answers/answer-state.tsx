import { useAction } from '../app/action.ts'
import { busyUntil } from '../app/changed-message.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { useSeconds } from '../parts/use-seconds.ts'
import { answersTexts } from '../texts/answers.ts'
import { texts } from '../texts/texts.ts'
import type { AnswerProps } from './answer-text.tsx'
import { durationText } from './duration-text.ts'
import { endingOf } from './ending-of.ts'

/** Whether an answer is being written, which can be stopped, or why it has ended early. */
export function AnswerState({ message, user_id, onAgain }: AnswerProps) {
  const { store } = useApp()
  const { run, isRunning, error } = useAction(() => store.cancelAnswer(message.id))
  const ending = endingOf(message)
  if (ending)
    return (
      <div class="note ending">
        {ending.text(answersTexts.value)} {onAgain && ending.helpsAgain && <Again id={message.id} onAgain={onAgain} />}
      </div>
    )
  // The box has the button for an own one.
  if (message.status === 'complete' || message.requested_by === user_id) return null
  return (
    <>
      <button type="button" class="stop" disabled={isRunning} onClick={() => void run()}>
        <Icon name="stop" />
        {texts.value.messages.stop}
      </button>
      <ErrorNote error={error} />
    </>
  )
}

/** Asks again, once the assistant is said to have time. */
function Again({ id, onAgain }: { id: string; onAgain: () => Promise<void> }) {
  const seconds = useSeconds(busyUntil.value.get(id) ?? 0)
  const { run, isRunning, error } = useAction(onAgain)
  return (
    <>
      <button type="button" class="link" disabled={isRunning || seconds > 0} onClick={() => void run()}>
        {texts.value.retry}
      </button>{' '}
      {/* A screen reader would read every second of it. */}
      {seconds > 0 && <span aria-hidden="true">{answersTexts.value.again_in(durationText(seconds))}</span>}
      <ErrorNote error={error} />
    </>
  )
}
