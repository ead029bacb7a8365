import { ChatError } from 'chat-server/client'

/**
 * The headers in a text, one in each line.
 *
 * @param messageOf says that a line is none
 * @throws ChatError `validation_failed` for a line without a name or a value, and for a second one of a name
 */
export function headersIn(text: string, messageOf: (line: string) => string): Record<string, string> {
  const headers: Record<string, string> = {}
  const names = new Set<string>()
  for (const line of text.split('\n').map((each) => each.trim())) {
    if (line === '') continue
    const [, name, value] = /^([^\s:]+)\s*:\s*(\S.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined || names.has(name.toLowerCase()))
      throw new ChatError('validation_failed', { errors: [{ path: 'headers', message: messageOf(line) }] })
    names.add(name.toLowerCase())
    headers[name] = value
  }
  return headers
}
