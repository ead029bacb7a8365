import { MAX_LENGTH } from '../../core/lengths.ts'

/** The longest text of an archive is an answer; JSON may need six characters for one. */
const MAX_LINE_LENGTH = 8 * MAX_LENGTH.answer

/**
 * The lines of a stream of UTF-8, without their line breaks.
 *
 * @throws Error for a line that is longer than any of an archive, which would fill the memory
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest: string[] = []
  let length = 0
  for await (const chunk of chunks) {
    const parts = decoder.decode(chunk, { stream: true }).split('\n')
    for (const part of parts.slice(0, -1)) {
      yield [...rest, part].join('')
      rest = []
      length = 0
    }
    const last = parts.at(-1)!
    rest.push(last)
    length += last.length
    if (length > MAX_LINE_LENGTH) throw new Error('This is not an archive of chat-server: a line of it is too long')
  }
  const last = [...rest, decoder.decode()].join('')
  if (last !== '') yield last
}
