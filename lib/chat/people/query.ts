import { ChatError } from '../../core/errors.ts'
import { splitAtoms } from '../../core/words.ts'

/** The names that a query asks for: without outer spaces and a leading `@`. @throws ChatError `validation_failed` */
export function parseQuery(text: string): string {
  const query = text.trim().replace(/^@/, '').trim()
  const isLong = [...query.normalize('NFC')].length >= 2 || splitAtoms(query).some(({ isDense }) => isDense)
  if (!isLong) throw new ChatError('validation_failed', { errors: [TOO_SHORT] })
  return query
}

const TOO_SHORT = { path: 'query', message: 'must be at least 2 characters, outer spaces and a leading @ aside' }
