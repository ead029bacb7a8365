import type { Message } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { Markdown } from '../markdown/lazy.tsx'
import { answersTexts } from '../texts/answers.ts'
import { isRunning } from '../threads/is-running.ts'
import { Reasoning } from './reasoning.tsx'
import { ToolLine } from './tool-line.tsx'

type Part = NonNullable<Message['parts']>[number]

/** The states of a tool in which it has not ended. */
const BUSY = ['requested', 'waiting', 'approved', 'running']

/** The text of an answer, and in its place what the assistant thought and the tools it used. Sources and files are below it. */
export function AnswerParts({ message }: { message: StoreMessage }) {
  const { content, parts } = message
  const isGrowing = isRunning(message)
  const note = <p class="note">{answersTexts.value.thinking}</p>
  if (!parts) return content === '' && isGrowing ? note : <Markdown text={content} isGrowing={isGrowing} />
  return (
    <>
      {parts.map((part, index) => (
        <PartView key={part.id} message={message} part={part} next={parts[index + 1]} isGrowing={isGrowing} />
      ))}
      {isGrowing && !saysWhatGoesOn(parts.at(-1)) && note}
    </>
  )
}

/** Whether the last part of an answer in progress shows by itself that the answer goes on. */
function saysWhatGoesOn(last: Part | undefined): boolean {
  return last?.type === 'text' || last?.type === 'reasoning' || (last?.type === 'tool' && BUSY.includes(last.state))
}

interface PartProps {
  message: StoreMessage
  part: Part
  /** The part that follows. */
  next: Part | undefined
  /** Whether the answer is in progress. */
  isGrowing: boolean
}

function PartView({ message, part, next, isGrowing }: PartProps) {
  const isLast = isGrowing && !next
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? null : <Markdown text={part.text} isGrowing={isLast} />
    case 'reasoning':
      return <Reasoning message_id={message.id} part={part} end={next?.id} isLive={isLast} />
    case 'tool':
      return <ToolLine message_id={message.id} part={part} />
    case 'step':
      return <div class="answer-step" />
    default:
      return null
  }
}
