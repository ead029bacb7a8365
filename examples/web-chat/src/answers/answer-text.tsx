import type { StoreMessage } from 'chat-server/client/store'
import { Markdown } from '../markdown/lazy.tsx'
import { isRunning } from '../threads/is-running.ts'

export interface AnswerProps {
  message: StoreMessage
  user_id: string
  /** Asks for another answer, where one may be asked for. */
  onAgain: (() => Promise<void>) | undefined
}

/** The text of an answer, until what shows all of it is loaded. */
export function AnswerText({ message }: AnswerProps) {
  return <Markdown text={message.content} isGrowing={isRunning(message)} />
}
