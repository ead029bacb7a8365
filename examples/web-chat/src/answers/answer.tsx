import { MessageFiles } from '../files/lazy-files.ts'
import { AnswerParts } from './answer-parts.tsx'
import { AnswerState } from './answer-state.tsx'
import type { AnswerProps } from './answer-text.tsx'
import { filesOf } from './files-of.ts'
import { Sources } from './sources.tsx'

/** What the assistant has written, what it used for that, and what becomes of it. */
export function Answer({ message, user_id, onAgain }: AnswerProps) {
  const files = filesOf(message)
  return (
    <>
      <AnswerParts message={message} />
      <Sources parts={message.parts} />
      {files.length > 0 && <MessageFiles files={files} message={message} />}
      <AnswerState message={message} user_id={user_id} onAgain={onAgain} />
    </>
  )
}
