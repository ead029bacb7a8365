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
      {isGrowing && !saysWhatGoesOn(parts) && note}
    </>
  )
}

/** Whether the parts of an answer in progress show by themselves what it does: it writes, runs a tool, or waits for a decision. */
function saysWhatGoesOn(parts: readonly Part[]): boolean {
  const last = parts.at(-1)
  if (last?.type === 'text' || last?.type === 'reasoning') return true
  return parts.some(
    (part) => part.type === 'tool' && (part === last ? BUSY.includes(part.state) : part.state === 'waiting'),
  )
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
