/** One event of a stream; its data is text. */
export interface WireEvent {
  id?: string
  type: string
  data: string
}

/** An event to be sent; its data is JSON, or text of one line in ASCII. */
interface TextEvent {
  id?: string | undefined
  type?: string | undefined
  data: string
}

/** The line ends of Unicode that the format has not: readers of lines of many languages end a line there. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** The media type, with the encoding: without it some readers take Latin-1, the default of text in HTTP/1.1. */
export const EVENT_STREAM = 'text/event-stream; charset=utf-8'

/** Whether a response is an event stream, with or without its encoding. */
export function isEventStream({ headers }: Response): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(headers.get('content-type') ?? '')
}

/**
 * An event as text, in the event stream format
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 */
export function formatEvent({ id, type, data }: TextEvent): string {
  const fields = `${id === undefined ? '' : `id: ${id}\n`}${type === undefined ? '' : `event: ${type}\n`}`
  // In JSON these are in texts only, where they may be escaped.
  return `${fields}data: ${data.replace(OTHER_LINE_ENDS, escaped)}\n\n`
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** How long a client should wait before it reconnects, as text. */
export function formatRetry(ms: number): string {
  return `retry: ${ms}\n\n`
}

/** A line that clients ignore, as text. */
export function formatComment(text: string): string {
  return `: ${text}\n\n`
}

/**
 * Cuts text that arrives in chunks into lines, which end with LF, CR or both. The text after the last line end is kept for
 * the next chunk.
 *
 * @param longest of a line, in UTF-16 units: a server that sends no line end must not fill the memory
 * @returns a function that takes a chunk, and @throws RangeError for a longer line
 */
export function createLineReader(longest: number): (chunk: string) => string[] {
  let rest = ''
  let endedWithCr = false
  return (chunk) => {
    if (chunk === '') return []
    // The second half of a CRLF.
    const text = endedWithCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk
    endedWithCr = chunk.endsWith('\r')
    const [first = '', ...more] = text.split(/\r\n|\n|\r/)
    const lines = [rest + first, ...more]
    rest = lines.pop()!
    if (rest.length > longest || lines.some((line) => line.length > longest))
      throw new RangeError(`A line is longer than ${longest} characters`)
    return lines
  }
}

/** The field of a line and its value; of a comment the field is empty. */
export function parseField(line: string): [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 0) return [line, '']
  return [line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)]
}

/**
 * Reads the events of text that arrives in chunks. An event without its final empty line is ignored.
 *
 * @param longest of an event, in UTF-16 units
 * @param onRetry is called with the milliseconds to wait before reconnecting
 * @returns a function that takes a chunk and returns the events that end in it; it @throws RangeError for a longer event
 */
export function createEventReader(
  longest: number,
  onRetry: (ms: number) => void = () => {},
): (chunk: string) => WireEvent[] {
  const readLines = createLineReader(longest)
  let event: Omit<WireEvent, 'data'> = { type: 'message' }
  let data: string | undefined

  function readLine(line: string): WireEvent | undefined {
    if (line === '') {
      const whole = data === undefined ? undefined : { ...event, data }
      event = { type: 'message' }
      data = undefined
      return whole
    }
    const [field, value] = parseField(line)
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === 'event') event.type = value
    else if (field === 'id') event.id = value
    else if (field === 'retry' && /^\d+$/.test(value)) onRetry(Number(value))
    if (data !== undefined && data.length > longest)
      throw new RangeError(`An event is longer than ${longest} characters`)
    return undefined
  }

  return (chunk) => readLines(chunk).flatMap((line) => readLine(line) ?? [])
}
