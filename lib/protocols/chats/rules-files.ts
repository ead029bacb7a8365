import { invalid } from '../../core/errors.ts'
import { isId } from '../../core/schema.ts'

const FILE = /([0-9a-f-]{36})(?:\/content)?$/

/** The file that a client names by its id, or by its address here. @throws ChatError `validation_failed` for another one */
export function toAttachmentId(name: string): string {
  const id = isId(name) || name.includes('/api/attachments/') ? FILE.exec(name)?.[1] : undefined
  if (id === undefined || !isId(id))
    throw invalid('messages', 'must have files by their ids or addresses here: upload them before')
  return id
}
