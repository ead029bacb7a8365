import type { Message } from '../../../lib/client/index.ts'
import type { Asked, Door, Reading } from './door.ts'
import { isWriting, textOf } from './script.ts'

/** What a client of a protocol has read. */
export interface Report extends Reading {
  door: Door
  asked: Asked
  /** When it had the end. */
  at: number
}

/** How answers end: those with tools by themselves, unless a kill comes while the model writes. */
const STATUSES: Record<string, readonly string[]> = {
  write: ['complete', 'interrupted'],
  endless: ['cancelled', 'interrupted'],
  run: ['complete', 'interrupted'],
}

/** What differs between an answer and its readings, as texts. */
export function differencesIn(message: Message, { question }: Asked, reports: readonly Report[]): string[] {
  const { id, status, content } = message
  const own = isWriting(question) ? textOf(question, content.length + 1) : content
  const checks: [holds: boolean, fault: string][] = [
    [STATUSES[question.split(' ')[0]!]!.includes(status), `is ${status}`],
    [status === 'complete' ? own === content : own.startsWith(content), `has another text than its model`],
  ]
  const faults = checks.filter(([holds]) => !holds).map(([, fault]) => fault)
  for (const { door, text, end, frames } of reports) {
    const first = reports.find((each) => each.door === door)!
    if (text !== content)
      faults.push(`was read by ${door.name} as ${JSON.stringify(text)}, not as ${JSON.stringify(content)}`)
    if (end !== door.ends[status as keyof Door['ends']])
      faults.push(`is ${status}, and ended by ${door.name} as ${end}`)
    const place = frames.findIndex((frame, n) => frame !== first.frames[n])
    if (place >= 0 || frames.length !== first.frames.length)
      faults.push(
        `has ${frames.length} frames by ${door.name}, ${frames[place]} where others have ${first.frames[place]}`,
      )
  }
  return faults.map((fault) => `the answer ${id} (${question}) ${fault}`)
}
